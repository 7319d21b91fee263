/* The files that a run writes beside its video, --stats, --report and --trace: what they must not be. */
#ifndef EC_APP_REPORT_FILES_H
#define EC_APP_REPORT_FILES_H

#include "app/job_list.h"

/* Before anything is opened: -o, --stats, --report and --trace name different files (EC_ERROR_ARGUMENT otherwise), and a report
 * replaces what is in a file only with -y (EC_ERROR_OUTPUT). That a report is the input is found when it is opened. */
enum ec_status app_report_files_check(const struct app_options *options, struct ec_error *error);

/* The same for the outputs and inputs of a batch, and one trace for one input: EC_ERROR_ARGUMENT otherwise. */
enum ec_status app_report_files_check_batch(const struct app_options *options, const struct app_job_list *list,
                                            struct ec_error *error);

#endif
