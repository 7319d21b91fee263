/* --list: what this program and this machine offer, on standard output. */
#ifndef EC_APP_LIST_H
#define EC_APP_LIST_H

void app_print_list(void);

#endif
