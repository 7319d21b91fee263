/* The texts of --help and --version, on standard output. */
#ifndef EC_APP_HELP_H
#define EC_APP_HELP_H

void app_print_help(void);
void app_print_version(void);

#endif
