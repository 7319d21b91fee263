/* The nearest right word for a wrong one. */
#ifndef EC_APP_SUGGEST_H
#define EC_APP_SUGGEST_H

/* Zero-initialised: nothing near was seen yet. */
struct app_suggestion {
    const char *word; /* the nearest candidate so far, NULL: none is near enough */
    int distance;
};

/* Takes `candidate` if it is nearer to `wrong` than what was seen before, and near enough to be meant. */
void app_suggest(struct app_suggestion *best, const char *wrong, const char *candidate);

#endif
