/* One of the twenty libraries that a program has loaded before: it takes its share of the storage
 * that the loader sets aside for threads' variables found at fixed places. */
static __thread char stored[32] __attribute__((tls_model("initial-exec")));

char *other(void);
char *other(void) {
  return stored;
}
