/* What batches have finished in a folder, kept there from run to run in the hidden file ".edgecam-batch": one JSON object a
 * line, {output, input, input_bytes, input_ns, options, output_bytes, output_ns, finished}, added when an output has got its
 * name; the last line about an output counts. Names are bytes: what is no printable ASCII is written as %XX. Any thread. */
#ifndef EC_APP_JOURNAL_H
#define EC_APP_JOURNAL_H

#include "app/job_list.h"

struct app_journal;

enum app_journal_answer {
    APP_JOURNAL_UNKNOWN = 0, /* no output of that name, or not one that a batch wrote and left */
    APP_JOURNAL_OLD, /* a batch wrote it, but from another input, with other options, or not to its end */
    APP_JOURNAL_CURRENT, /* what this job would write */
};

/* Reads the folder's journal. `options` is all that has a bearing on the outputs. A line that cannot be read counts as missing.
 * EC_ERROR_OUTPUT: the file cannot be written. */
enum ec_status app_journal_open(struct app_journal **out, const char *folder, const char *options, struct ec_error *error);
enum app_journal_answer app_journal_ask(struct app_journal *journal, const struct app_job *job);
/* The job's output is there. A failure is logged: it costs a --resume later, not the run. */
void app_journal_add(struct app_journal *journal, const struct app_job *job, bool finished, const struct ec_logger *logger);
void app_journal_close(struct app_journal **journal);

#endif
