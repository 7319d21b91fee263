#include "app/doctor_display.h"

#include <SDL.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 5000

static const char display_group[] = "Display";

/* What the child writes: a line with '+' and the driver's name and size, or '-' and the reason. */
static void try_display(char *answer, size_t size)
{
    SDL_DisplayMode mode = {0};
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    if (SDL_InitSubSystem(SDL_INIT_VIDEO)) {
        snprintf(answer, size, "-%s", SDL_GetError());
        return;
    }
    const char *driver = SDL_GetCurrentVideoDriver();
    if (!driver || strcmp(driver, "dummy") == 0 || strcmp(driver, "offscreen") == 0)
        snprintf(answer, size, "-SDL found only its driver '%s', which shows nothing", driver ? driver : "?");
    else if (SDL_GetCurrentDisplayMode(0, &mode))
        snprintf(answer, size, "-the %s display has no screen: %s", driver, SDL_GetError());
    else
        snprintf(answer, size, "+%s, %dx%d at %d Hz", driver, mode.w, mode.h, mode.refresh_rate);
    SDL_QuitSubSystem(SDL_INIT_VIDEO);
}

static void child_main(int out)
{
    char answer[300] = "";
    /* Drivers write to standard error when they find nothing. */
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    try_display(answer, sizeof answer);
    _exit(write(out, answer, strlen(answer)) < 0);
}

/* The child's answer; empty: it ended without one; false: none within ANSWER_MS. */
static bool wait_for_answer(int in, char *answer, size_t size)
{
    struct pollfd ready = {.fd = in, .events = POLLIN};
    int count;
    do
        count = poll(&ready, 1, ANSWER_MS);
    while (count < 0 && errno == EINTR);
    const ssize_t length = count > 0 ? read(in, answer, size - 1) : 0;
    answer[length > 0 ? length : 0] = '\0';
    return count > 0;
}

void doctor_display(const struct ec_examiner *examiner)
{
    static const char advice[] = "set DISPLAY or WAYLAND_DISPLAY for windows; -o, --hash and --null need none";
    char answer[300] = "";
    int ends[2];
    if (pipe(ends)) {
        ec_finding(examiner, display_group, EC_VERDICT_NOTE, "not examined: %s", strerror(errno));
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        child_main(ends[1]);
    }
    close(ends[1]);
    const bool answered = child > 0 && wait_for_answer(ends[0], answer, sizeof answer);
    close(ends[0]);
    if (child > 0) {
        if (!answered)
            kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    if (child < 0)
        ec_finding(examiner, display_group, EC_VERDICT_NOTE, "not examined: %s", strerror(errno));
    else if (!answered)
        ec_finding(examiner, display_group, EC_VERDICT_PROBLEM, "the display server did not answer within %d s; %s",
                   ANSWER_MS / 1000, advice);
    else if (answer[0] == '+')
        ec_finding(examiner, display_group, EC_VERDICT_OK, "windows open: %s", answer + 1);
    else
        ec_finding(examiner, display_group, EC_VERDICT_NOTE, "no window can be opened here: %s; %s",
                   answer[0] ? answer + 1 : "SDL's video driver ended the attempt", advice);
}

void doctor_cameras(const struct ec_examiner *examiner)
{
    static const char group[] = "Cameras";
    glob_t found = {0};
    if (glob("/dev/video*", 0, NULL, &found) != 0)
        ec_finding(examiner, group, EC_VERDICT_NOTE,
                   "none under /dev/video*: plug one in, or pass the device to this container");
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        if (access(path, R_OK | W_OK) == 0)
            ec_finding(examiner, group, EC_VERDICT_OK, "%s may be opened (--webcam=%s)", path, path);
        else
            ec_finding(examiner, group, EC_VERDICT_PROBLEM,
                       "%s may not be opened (%s): usermod -aG video USER, then log in again", path, strerror(errno));
    }
    globfree(&found);
}
