#include "app/help.h"

#include <SDL.h>
#include <libavutil/avutil.h>
#include <stdio.h>
#include <string.h>

#include "app/options.h"

static const char *const group_names[APP_GROUP_COUNT] = {
    [APP_GROUP_INPUT] = "Input", [APP_GROUP_EDGES] = "Edges",   [APP_GROUP_OUTPUT] = "Output",
    [APP_GROUP_RUN] = "Run",     [APP_GROUP_REPORT] = "Report",
};

static void append(char *line, size_t size, const char *text)
{
    strncat(line, text, size - strlen(line) - 1);
}

static void append_option(char *line, size_t size, const struct app_option *option)
{
    const char letter[] = {'-', option->letter, ',', ' ', '\0'};
    if (line[0])
        append(line, size, ", ");
    if (option->letter)
        append(line, size, letter);
    append(line, size, "--");
    append(line, size, option->name);
    if (option->argument == APP_ARGUMENT_OPTIONAL)
        append(line, size, "[=");
    else if (option->argument == APP_ARGUMENT_REQUIRED)
        append(line, size, " ");
    if (option->argument != APP_ARGUMENT_NONE)
        append(line, size, option->metavar);
    if (option->argument == APP_ARGUMENT_OPTIONAL)
        append(line, size, "]");
}

void app_print_help(void)
{
    puts("Edges of a video: edgecam [OPTION]... INPUT...\n"
         "INPUT is a file, a folder (with --out-dir), - (standard input), a URL, a %03d pattern or demo:WxH@FPS.");
    int shown = -1;
    for (int i = 0; i < app_option_count;) {
        const struct app_option *first = &app_option_table[i];
        char left[80] = "";
        do
            append_option(left, sizeof left, &app_option_table[i++]);
        while (i < app_option_count && !app_option_table[i].help);
        if (!first->help[0])
            continue;
        printf("%-7s %-31s %s\n", (int)first->group != shown ? group_names[first->group] : "", left, first->help);
        shown = (int)first->group;
    }
}

void app_print_version(void)
{
    SDL_version sdl;
    SDL_GetVersion(&sdl);
    printf("edgecam %s (FFmpeg %s, SDL %d.%d.%d, CUDA backend: %s)\n", EDGECAM_VERSION, av_version_info(), sdl.major, sdl.minor,
           sdl.patch, EDGECAM_HAVE_CUDA ? "yes" : "no");
}
