#include "cli/ranks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/mpi/part.h"

enum { PATH = 4096, SECONDS_LATER = 2 };

/* Seconds that nothing moves before a rank is given up: one that reads or computes sends nothing.
 */
static const double deadline_usual = 600;

/* How a process knows who has started it. */
typedef struct launcher {
  const char *count, *rank, *local; /* in the environment; local: its number on this host */
  const char *mpi, *part, *package;
} launcher;
static const launcher launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "Open MPI",
     "librung-mpi-openmpi.so", "rung-openmpi"},
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID", "MPICH", "librung-mpi-mpich.so", "rung-mpich"}};

static struct {
  const rung_mpi_part *part;
  const rung_ranks *ranks; /* NULL: there are none */
  rung_parcel *parcels;    /* two a rank */
  char *room;              /* RANKS_ROOM a rank */
  bool settled; /* all have heard that one has failed: they do nothing together any more */
  bool broken;  /* not all are heard of */
} world;

const rung_ranks *ranks_all(void) {
  return world.ranks;
}

int ranks_number(void) {
  return world.ranks ? world.ranks->rank : 0;
}

/* ---- finding the others -----------------------------------------------------------------------
 */

static int number_of(const char *variable) {
  const char *text = getenv(variable);
  return text ? (int)strtol(text, NULL, 10) : 0;
}

/* Who has started several of this process; NULL: nobody, or each is to be by itself. */
static const launcher *find_launcher(void) {
  const char *wish = getenv("RUNG_RANKS");
  if (wish && strcmp(wish, "0") == 0) return NULL;
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
    if (number_of(launchers[i].count) > 1) return &launchers[i];
  return NULL;
}

/* The part beside librung, else wherever the loader looks. MPI's own parts look for its names among
 * those of all libraries. */
static const rung_mpi_part *load(const launcher *by, rung_error *error) {
  char path[PATH];
  Dl_info library;
  const char *slash = NULL;
  if (dladdr((const void *)&rung_reduce_ranks, &library)) slash = strrchr(library.dli_fname, '/');
  snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - library.dli_fname) : 0,
           slash ? library.dli_fname : "", by->part);
  if (access(path, F_OK) != 0) snprintf(path, sizeof path, "%s", by->part);
  void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  const char *said = handle ? NULL : dlerror();
  const bool absent = said && strncmp(said, by->part, strlen(by->part)) == 0;
  const rung_mpi_part *part = handle ? dlsym(handle, RUNG_PART_MPI) : NULL;
  /* Kept open: a part stays. */
  // cppcheck-suppress resourceLeak
  if (part && strcmp(part->version, RUNG_VERSION) == 0) return part;
  rung_fail(error, RUNG_UNSUPPORTED,
            "%s has started %d ranks, and %s %s%.160s; expected: that file of version " RUNG_VERSION
            " beside librung.so (Debian: the package %s), or RUNG_RANKS=0 in the environment: each "
            "by itself",
            by->mpi, number_of(by->count), by->part,
            part     ? "is of version "
            : absent ? "is not here"
            : said   ? "cannot be loaded: "
                     : "is no part of Rung",
            part              ? part->version
            : absent || !said ? ""
                              : said,
            by->package);
  // cppcheck-suppress resourceLeak
  return NULL;
}

rung_status ranks_deadline(double *seconds, rung_error *error) {
  const char *wish = getenv("RUNG_RANKS_DEADLINE");
  *seconds = wish ? strtod(wish, NULL) : deadline_usual;
  if (*seconds > 0) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "RUNG_RANKS_DEADLINE is '%.40s'; expected: more than 0 seconds", wish);
}

static rung_status meet(const launcher *by, rung_error *error) {
  char why[RUNG_TEXT] = "";
  double deadline;
  if (ranks_deadline(&deadline, error)) return error->status;
  world.part = load(by, error);
  if (!world.part) return error->status;
  const rung_ranks *ranks = world.part->begin(deadline, why);
  if (!ranks) return rung_fail(error, RUNG_RANKS_FAILED, "%s cannot begin: %s", by->mpi, why);
  if (ranks->count != number_of(by->count))
    return rung_fail(error, RUNG_RANKS_FAILED,
                     "%s is %d, and %s finds %d ranks; expected: the mpirun of this MPI", by->count,
                     number_of(by->count), by->mpi, ranks->count);
  world.parcels = calloc(2 * (size_t)ranks->count, sizeof *world.parcels);
  world.room = malloc((size_t)ranks->count * RANKS_ROOM);
  world.ranks = ranks;
  if (world.parcels && world.room) return RUNG_OK;
  world.settled = world.broken = true;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %d ranks", ranks->count);
}

/* What mpirun gives a rank is no terminal of anybody's, though it may look like one. Others than
 * rank 0 say nothing: below the stream, which may be one of our own (terminal.c). */
static void speak_as_rank(void) {
  cli_wide();
  setenv("NO_COLOR", "1", 1);
  const int nowhere = ranks_number() > 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
  if (nowhere < 0) return;
  dup2(nowhere, STDOUT_FILENO);
  close(nowhere);
}

bool ranks_begin(const char *verb, bool together, int *code) {
  const launcher *by = find_launcher();
  rung_error error = {0};
  if (!by) return true;
  if (!together) {
    rung_fail(&error, RUNG_UNSUPPORTED,
              "%s has started %d ranks, which this verb cannot share out; expected: reduce, scan, "
              "histogram, stencil, radiator, correlate, convolve, matmul, pairs or devices, or "
              "RUNG_RANKS=0 in the environment: each by itself",
              by->mpi, number_of(by->count));
  } else if (meet(by, &error) == RUNG_OK) {
    speak_as_rank();
    return true;
  }
  /* One rank of a host says it: as a rule all come here. The others wait, for mpirun may end what
   * is left when a rank ends. */
  const bool first = number_of(by->rank) == 0 || (together && number_of(by->local) == 0);
  if (!first) sleep(SECONDS_LATER);
  *code = first ? cli_end(verb, &error) : cli_code_of(error.status);
  return false;
}

void ranks_end(void) {
  if (world.ranks && !world.broken) world.part->end();
  free(world.parcels);
  free(world.room);
  world.ranks = NULL;
}

/* ---- what they say to each other ---------------------------------------------------------------
 */

static const void *exchange(const void *mine, size_t bytes, rung_error *error) {
  const rung_ranks *ranks = world.ranks;
  char why[RUNG_TEXT] = "";
  const int others = ranks->count - 1;
  for (int r = 0, i = 0; r < ranks->count; r++) {
    char *place = world.room + (size_t)r * bytes;
    if (r == ranks->rank) {
      memcpy(place, mine, bytes);
      continue;
    }
    world.parcels[i] = (rung_parcel){r, (void *)mine, bytes, 0};
    world.parcels[others + i++] = (rung_parcel){r, place, bytes, 0};
  }
  rung_parcel *received = world.parcels + others;
  const int failed = ranks->exchange(ranks->state, world.parcels, others, received, others, why);
  why[RUNG_TEXT - 1] = '\0';
  for (int i = 0; i < others; i++) {
    if (received[i].moved == bytes) continue;
    rung_fail(error, RUNG_RANKS_FAILED, "rank %d is not heard of%s%s", received[i].rank,
              why[0] ? ": " : "", why);
    return NULL;
  }
  if (!failed) return world.room;
  rung_fail(error, RUNG_RANKS_FAILED, "rank %d cannot reach the others%s%s", ranks->rank,
            why[0] ? ": " : "", why);
  return NULL;
}

/* The same in all ranks, out of what each came to. */
static rung_status settle(const rung_error *all, rung_error *error) {
  bool same = true;
  const rung_error *first = NULL;
  for (int r = 0; r < world.ranks->count; r++) {
    same = same && all[r].status == all[0].status && strcmp(all[r].sentence, all[0].sentence) == 0;
    if (!first && all[r].status != RUNG_OK) first = &all[r];
  }
  world.settled = first != NULL;
  if (same) return error->status;
  return rung_fail(error, first->status, "rank %d: %.*s", (int)(first - all), RUNG_SENTENCE - 16,
                   first->sentence[0] ? first->sentence : rung_status_text(first->status));
}

rung_status ranks_agree(rung_error *error) {
  if (!world.ranks || world.settled) return error->status;
  const rung_error *all = NULL;
  /* Of a call that has failed so, nobody listens any more. */
  if (error->status != RUNG_RANKS_FAILED) all = exchange(error, sizeof *error, error);
  if (all) return settle(all, error);
  world.settled = world.broken = true;
  return error->status;
}

const void *ranks_gather(const void *mine, size_t bytes, rung_error *error) {
  if (ranks_agree(error)) return NULL;
  const void *all = exchange(mine, bytes, error);
  world.settled = world.broken = !all;
  return all;
}

bool ranks_speaks(rung_status status) {
  return ranks_number() == 0 || status == RUNG_RANKS_FAILED;
}

void ranks_give_up(rung_status status, int code) {
  if (!world.part || status != RUNG_RANKS_FAILED) return;
  sleep(1); /* an mpirun that ends all may drop what it has not passed on yet */
  world.part->abort(code);
}
