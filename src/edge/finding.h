/* One thing found out about a machine, for a person: a fact and, where it is a problem, what to do about it. */
#ifndef EC_EDGE_FINDING_H
#define EC_EDGE_FINDING_H

enum ec_verdict {
    EC_VERDICT_OK = 0, /* works */
    EC_VERDICT_NOTE, /* good to know; nothing that was asked for suffers */
    EC_VERDICT_PROBLEM, /* the sentence says what to do */
};

/* Where findings go. `group` is a heading ("GPU"); findings of one group come one after another. */
struct ec_examiner {
    void (*finding)(void *opaque, const char *group, enum ec_verdict verdict, const char *text);
    void *opaque;
};

void ec_finding(const struct ec_examiner *examiner, const char *group, enum ec_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
