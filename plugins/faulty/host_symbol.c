/* Part of libdevice_api_faulty_link.so alone: a plugin that wants a function of the host's. Weak, because it
 * must load where nobody has it. */
extern void da_host_log(void) __attribute__((weak));
void (*volatile faulty_host_log)(void) = da_host_log;
