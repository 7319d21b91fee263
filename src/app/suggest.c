#include "app/suggest.h"

#include <string.h>

#define LONGEST 40

static int smallest(int a, int b, int c)
{
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours count one each. */
static int edit_distance(const char *a, int a_length, const char *b, int b_length)
{
    int rows[3][LONGEST + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= b_length; j++)
        above[j] = before[j] = j;
    for (int i = 1; i <= a_length; i++) {
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            row[j] = smallest(row[j - 1] + 1, above[j] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        int *const oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_length];
}

void app_suggest(struct app_suggestion *best, const char *wrong, const char *candidate)
{
    const size_t wrong_length = strlen(wrong), length = strlen(candidate);
    if (wrong_length > LONGEST || length > LONGEST || wrong_length < 2)
        return;
    /* A third of the letters may be wrong, of a short word one; a beginning of the word counts as near. */
    const int limit = wrong_length < 4 ? 1 : (int)(wrong_length + 2) / 3;
    int distance = edit_distance(wrong, (int)wrong_length, candidate, (int)length);
    if (distance > limit && wrong_length >= 2 && strncmp(wrong, candidate, wrong_length) == 0)
        distance = limit;
    if (distance <= limit && (!best->word || distance < best->distance))
        *best = (struct app_suggestion){.word = candidate, .distance = distance};
}
