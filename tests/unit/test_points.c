/* Files of points: each format as its program writes it, by hand; and that a damaged, cut or lying
 * file never does more than fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/random.h"
#include "files/array.h"
#include "files/npy.h"
#include "files/points.h"

static char folder[64], path[96];
static const points_how plain;

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/rung-points-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

static void put(const char *extension, const void *bytes, size_t count) {
  snprintf(path, sizeof path, "%s/a.%s", folder, extension);
  unlink(path); /* a new file each time: one that is cut to nothing waits for the disk */
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

/* Opens what the text says; the file itself is no longer needed. */
static points *begin(const char *extension, const char *text, const points_how *how) {
  points *file;
  rung_error error = {0};
  put(extension, text, strlen(text));
  rung_status status = points_open(&file, path, how, &error);
  unlink(path);
  if (status) fail_msg("refused: %s", error.sentence);
  return file;
}

static points_frame next(points *file) {
  points_frame frame;
  bool more = false;
  rung_error error = {0};
  if (points_next(file, &frame, &more, &error) != RUNG_OK) fail_msg("refused: %s", error.sentence);
  assert_true(more);
  return frame;
}

static void ends(points *file) {
  points_frame frame;
  bool more = true;
  rung_error error = {0};
  if (points_next(file, &frame, &more, &error) != RUNG_OK) fail_msg("refused: %s", error.sentence);
  assert_false(more);
  points_close(file);
}

/* Reads all frames; what came of it. */
static rung_status read_all(const points_how *how, rung_error *error) {
  points *file;
  points_frame frame;
  bool more = true;
  *error = (rung_error){0};
  rung_status status = points_open(&file, path, how, error);
  while (!status && more) {
    status = points_next(file, &frame, &more, error);
    for (int64_t i = 0; !status && more && i < 3 * frame.count; i++)
      assert_true(isfinite(frame.at[i / 3][i % 3]));
  }
  points_close(file);
  return status;
}

static void refused_as(const char *extension, const char *text, const points_how *how,
                       const char *words) {
  rung_error error;
  put(extension, text, strlen(text));
  rung_status status = read_all(how, &error);
  unlink(path);
  if (status != RUNG_BAD_FILE) fail_msg("'%s' came to %d, not to '%s'", text, status, words);
  if (!strstr(error.sentence, words)) fail_msg("'%s' does not say '%s'", error.sentence, words);
  assert_non_null(strstr(error.sentence, path));
}

static void refused(const char *extension, const char *text, const char *words) {
  refused_as(extension, text, &plain, words);
}

static void is_point(const points_frame *frame, int64_t i, double x, double y, double z) {
  if (!(frame->at[i][0] == x && frame->at[i][1] == y && frame->at[i][2] == z))
    fail_msg("point %d is %.17g %.17g %.17g", (int)i, frame->at[i][0], frame->at[i][1],
             frame->at[i][2]);
}

static void is_vector(const double v[3], double x, double y, double z) {
  if (!(fabs(v[0] - x) < 1e-9 && fabs(v[1] - y) < 1e-9 && fabs(v[2] - z) < 1e-9))
    fail_msg("vector is %.17g %.17g %.17g", v[0], v[1], v[2]);
}

static void is_named(const points_frame *frame, int64_t i, const char *name, const char *element) {
  assert_string_equal(frame->labels[i].name, name);
  assert_string_equal(frame->labels[i].element, element);
}

/* ---- what is read -----------------------------------------------------------------------------
 */

static const char xyz[] =
    "2\nwater, or so\nO 0 0.5 -1e1\nH\t1 2 3 left over\n\n"
    "1\nLattice=\"4 0 0 1 5 0 0 0 6\" Properties=species:S:1:mol:I:1:q:R:1:pos:R:3 pbc=\"T T "
    "T\"\r\n"
    "Zr 7 -0.25 1 2 3\r\n"
    "1\npbc=\"F F F\" Lattice=\"4 0 0 0 5 0 0 0 6\" note='Properties=none'\nC 4 5 6\n\n \n";

static void reads_xyz(void **state) {
  (void)state;
  points *file = begin("xyz", xyz, &plain);
  points_frame frame = next(file);
  assert_int_equal(frame.count, 2);
  assert_int_equal(frame.number, 1);
  is_point(&frame, 0, 0, 0.5, -10);
  is_point(&frame, 1, 1, 2, 3);
  is_named(&frame, 1, "H", "H");
  assert_false(frame.has_box);
  assert_null(frame.molecules);
  frame = next(file);
  assert_int_equal(frame.count, 1);
  is_point(&frame, 0, 1, 2, 3);
  is_named(&frame, 0, "Zr", "Zr");
  assert_int_equal(frame.molecules[0], 7);
  assert_null(frame.weights);
  assert_true(frame.has_box);
  is_vector(frame.box.a, 4, 0, 0);
  is_vector(frame.box.b, 1, 5, 0);
  is_vector(frame.box.c, 0, 0, 6);
  frame = next(file);
  assert_false(frame.has_box);
  is_point(&frame, 0, 4, 5, 6);
  assert_null(frame.molecules);
  ends(file);

  const points_how charged = {.weights = "q", .no_box = true};
  file = begin("extxyz", strstr(xyz, "1\nLattice"), &charged);
  frame = next(file);
  assert_true(frame.weights[0] == -0.25);
  assert_false(frame.has_box);
  points_close(file);
  file = begin("XYZ", "0\n\n", &plain);
  frame = next(file);
  assert_int_equal(frame.count, 0);
  ends(file);
}

static const char gro[] =
    "Water, t= 0.0\n    3\n"
    "    1SOL     OW    1   0.230   0.628   0.113  0.1000  0.2000  0.3000\n"
    "    1SOL    HW1    2   0.137   0.626  -0.150  0.1000  0.2000  0.3000\n"
    "    2SOL     OW    3  10.225   0.275  -0.866  0.1000  0.2000  0.3000\n"
    "   1.86206   2.00000   3.00000\n"
    "\n1\n"
    "99999NA      NA99999    0.25000   -0.50000    1.00000\n"
    "   4.0 5.0 6.0 0.0 0.0 1.0 0.0 -1.0 2.0\n"
    "no box\n0\n0 0 0\n\n\n";

static void reads_gro(void **state) {
  (void)state;
  points *file = begin("gro", gro, &plain);
  points_frame frame = next(file);
  assert_int_equal(frame.count, 3);
  is_point(&frame, 0, 0.230, 0.628, 0.113);
  is_point(&frame, 1, 0.137, 0.626, -0.150);
  is_point(&frame, 2, 10.225, 0.275, -0.866);
  is_named(&frame, 1, "HW1", "");
  assert_int_equal(frame.molecules[0], frame.molecules[1]);
  assert_int_not_equal(frame.molecules[0], frame.molecules[2]);
  is_vector(frame.box.a, 1.86206, 0, 0);
  is_vector(frame.box.c, 0, 0, 3);
  frame = next(file);
  is_point(&frame, 0, 0.25, -0.5, 1);
  is_named(&frame, 0, "NA", "");
  is_vector(frame.box.a, 4, 0, 0);
  is_vector(frame.box.b, 1, 5, 0);
  is_vector(frame.box.c, -1, 2, 6);
  frame = next(file);
  assert_int_equal(frame.count, 0);
  assert_false(frame.has_box);
  ends(file);
}

static const char pdb[] =
    "TITLE     TWO MODELS\n"
    "CRYST1   10.000   20.000   30.000  90.00  90.00 120.00 P 1           1\n"
    "MODEL        1\n"
    "ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00 20.00           N\n"
    "ATOM      2  CA  ALA A   1      11.639   6.071  -5.147  0.50 19.50\n"
    "ATOM      3 CA    CA A   2    -111.639  -6.071  -5.147  1.00 10.00\n"
    "TER       4       CA A   2\n"
    "HETATM    5 HO5'  CA A   2       1.000   2.000   3.000  1.00 10.00\n"
    "ENDMDL\n"
    "MODEL        2\n"
    "HETATM    1 ZN    ZN B   1       1.000   2.000   3.000  1.00 10.00          ZN\n"
    "ENDMDL\n"
    "END\n";

static void reads_pdb(void **state) {
  (void)state;
  const points_how how = {.weights = "bfactor"};
  points *file = begin("pdb", pdb, &how);
  points_frame frame = next(file);
  assert_int_equal(frame.count, 4);
  is_point(&frame, 0, 11.104, 6.134, -6.504);
  is_point(&frame, 2, -111.639, -6.071, -5.147);
  is_named(&frame, 0, "N", "N");
  is_named(&frame, 1, "CA", "C");
  is_named(&frame, 2, "CA", "CA");
  is_named(&frame, 3, "HO5'", "H");
  assert_true(frame.weights[1] == 19.5);
  assert_int_equal(frame.molecules[0], frame.molecules[1]);
  assert_int_not_equal(frame.molecules[1], frame.molecules[2]);
  assert_int_not_equal(frame.molecules[2], frame.molecules[3]); /* a TER is between them */
  is_vector(frame.box.a, 10, 0, 0);
  is_vector(frame.box.b, -10, 20 * sqrt(0.75), 0);
  is_vector(frame.box.c, 0, 0, 30);
  frame = next(file);
  assert_int_equal(frame.count, 1);
  is_named(&frame, 0, "ZN", "ZN");
  assert_true(frame.has_box);
  ends(file);
  /* No models, no END, and the cell of where there is none. */
  file = begin("ent",
               "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1\n"
               "ATOM      1  N   ALA A   1      11.104   6.134  -6.504",
               &plain);
  frame = next(file);
  assert_int_equal(frame.count, 1);
  assert_false(frame.has_box);
  ends(file);
}

static const char lammps[] =
    "ITEM: TIMESTEP\n100\nITEM: NUMBER OF ATOMS\n2\n"
    "ITEM: BOX BOUNDS xy xz yz pp pp pp\n-1.5 10.75 1\n0 5.5 -0.5\n0 4 0.5\n"
    "ITEM: ATOMS id mol type x y z q\n7 3 2 1 2 3 0.5\n2 4 1 -1 -2 -3 -0.5\n"
    "ITEM: TIMESTEP\n200\nITEM: UNITS\nlj\nITEM: NUMBER OF ATOMS\n1\n"
    "ITEM: BOX BOUNDS pp pp pp\n-1 3\n-2 6\n1 2\n"
    "ITEM: ATOMS element xs ys zs type\nNa 0.25 0.5 1.5 3\n"
    "ITEM: TIMESTEP\n300\nITEM: NUMBER OF ATOMS\n1\n"
    "ITEM: BOX BOUNDS ff ff ff\n-1 3\n-2 6\n1 2\nITEM: ATOMS xu yu zu q\n4 5 6 1\n"
    "ITEM: TIMESTEP\n400\nITEM: NUMBER OF ATOMS\n0\n"
    "ITEM: BOX BOUNDS abc origin pp pp pp\n1 0 0 5\n1 2 0 5\n1 2 3 5\nITEM: ATOMS id x y z q\n";

/* Serials of more digits than there are columns for, as several programs write them. */
static void reads_any_serial(void **state) {
  (void)state;
  static const char text[] =
      "ATOM  99999  O   HOH A   1      11.104   6.134  -6.504  1.00  0.00           O\n"
      "ATOM 100000  O   HOH A   2      12.104   6.134  -6.504  1.00  0.00           O\n"
      "HETATM100001 O   HOH A   3      13.104   6.134  -6.504  1.00  0.00           O\n"
      "ATOM  A0000  O   HOH A   4      14.104   6.134  -6.504  1.00  0.00           O\n"
      "ATOM  *****  O   HOH A   5      15.104   6.134  -6.504  1.00  0.00           O\n"
      "END\n";
  points *file = begin("pdb", text, &plain);
  const points_frame frame = next(file);
  assert_int_equal(frame.count, 5);
  for (int i = 0; i < 5; i++) assert_true(frame.at[i][0] == 11.104 + i);
  ends(file);
  refused("pdb", "ATOMS 10000  O   HOH A   2      12.104   6.134  -6.504\nEND\n",
          "no record of an atom");
  refused("pdb", "HETATO10000  O   HOH A   2      12.104   6.134  -6.504\nEND\n",
          "no record of an atom");
}

static void reads_lammps(void **state) {
  (void)state;
  points *file = begin("lammpstrj", lammps, &plain);
  points_frame frame = next(file);
  assert_int_equal(frame.count, 2);
  is_point(&frame, 0, 1, 2, 3);
  is_named(&frame, 0, "2", "");
  assert_int_equal(frame.molecules[1], 4);
  /* Bounds -1.5 ... 10.75 hold tilts of 1 and -0.5: the cell is from -1 to 9.75. */
  is_vector(frame.box.a, 10.75, 0, 0);
  is_vector(frame.box.b, 1, 5, 0);
  is_vector(frame.box.c, -0.5, 0.5, 4);
  frame = next(file);
  is_point(&frame, 0, 0, 2, 2.5);
  is_named(&frame, 0, "Na", "Na");
  assert_null(frame.molecules);
  is_vector(frame.box.b, 0, 8, 0);
  frame = next(file);
  is_point(&frame, 0, 4, 5, 6);
  assert_false(frame.has_box);
  assert_null(frame.labels);
  frame = next(file);
  assert_int_equal(frame.count, 0);
  is_vector(frame.box.b, 1, 2, 0);
  is_vector(frame.box.c, 1, 2, 3);
  ends(file);
}

static void reads_csv(void **state) {
  (void)state;
  points *file = begin("csv", "1,2,3\n\n# remark\n4, 5 ,6e1", &plain);
  points_frame frame = next(file);
  assert_int_equal(frame.count, 2);
  is_point(&frame, 1, 4, 5, 60);
  assert_null(frame.labels);
  ends(file);
  const points_how weighted = {.weights = "weight"}, mass = {.weights = "mass"};
  file = begin("tsv", "1\t2\t3\tOW\t-1\t0.5\n", &weighted);
  frame = next(file);
  is_named(&frame, 0, "OW", "");
  assert_int_equal(frame.molecules[0], -1);
  assert_true(frame.weights[0] == 0.5);
  ends(file);
  file = begin("csv", "\"id\";\"Z\";y;X;mass;Name\n1;30;20;10;2.5;Halo 1\n", &mass);
  frame = next(file);
  is_point(&frame, 0, 10, 20, 30);
  is_named(&frame, 0, "Halo 1", "");
  assert_true(frame.weights[0] == 2.5);
  ends(file);
  file = begin("txt", "  1 2   3\n", &plain);
  frame = next(file);
  is_point(&frame, 0, 1, 2, 3);
  ends(file);
}

static void put_npy(rung_dtype dtype, int ndim, const int64_t *shape, void *data) {
  rung_error error = {0};
  int64_t extents[3];
  memcpy(extents, shape, (size_t)ndim * sizeof *shape);
  DLTensor tensor = {
      .data = data,
      .device = {kDLCPU, 0},
      .ndim = ndim,
      .dtype = {dtype == RUNG_I64 ? kDLInt : kDLFloat, (uint8_t)(8 * rung_dtype_bytes(dtype)), 1},
      .shape = extents};
  snprintf(path, sizeof path, "%s/a.npy", folder);
  assert_int_equal(array_write(path, &tensor, &error), RUNG_OK);
}

static void reads_npy(void **state) {
  (void)state;
  double wide[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  float narrow[6] = {1, 2, 3, 4, 5, 0.1f};
  points *file;
  rung_error error = {0};
  put_npy(RUNG_F64, 3, (int64_t[]){2, 2, 3}, wide);
  assert_int_equal(points_open(&file, path, &plain, &error), RUNG_OK);
  points_frame frame = next(file);
  assert_int_equal(frame.count, 2);
  is_point(&frame, 1, 4, 5, 6);
  frame = next(file);
  is_point(&frame, 1, 10, 11, 12);
  ends(file);
  put_npy(RUNG_F32, 2, (int64_t[]){2, 3}, narrow);
  assert_int_equal(points_open(&file, path, &plain, &error), RUNG_OK);
  frame = next(file);
  is_point(&frame, 1, 4, 5, (double)0.1f);
  ends(file);
  wide[4] = NAN;
  put_npy(RUNG_F64, 3, (int64_t[]){2, 2, 3}, wide);
  assert_int_equal(read_all(&plain, &error), RUNG_BAD_FILE);
  assert_non_null(strstr(error.sentence, "frame 1: point 2: y is nan"));
  put_npy(RUNG_F64, 3, (int64_t[]){INT64_C(100000000000000000), 0, 3}, wide);
  assert_int_equal(read_all(&plain, &error), RUNG_BAD_FILE);
  assert_non_null(strstr(error.sentence, "100000000000000000 frames of no points"));
  put_npy(RUNG_F64, 2, (int64_t[]){3, 4}, wide);
  assert_int_equal(read_all(&plain, &error), RUNG_BAD_FILE);
  assert_non_null(strstr(error.sentence, "(n, 3)"));
  put_npy(RUNG_I64, 2, (int64_t[]){2, 3}, wide);
  assert_int_equal(read_all(&plain, &error), RUNG_BAD_FILE);
  assert_non_null(strstr(error.sentence, "holds i64"));
  unlink(path);
}

/* What editors and other programs make of a text. */
static void reads_variants(void **state) {
  (void)state;
  points *file = begin("xyz",
                       "\xef\xbb\xbf"
                       "1\nlattice=\"4 0 0 0 5 0 0 0 6\" PBC=\"T T T\"\nA 1 2 3\n",
                       &plain);
  points_frame frame = next(file);
  assert_true(frame.has_box && frame.box.b[1] == 5);
  ends(file);
  file = begin("csv", "\xef\xbb\xbfz,y,x\n1,2,3\n", &plain);
  frame = next(file);
  assert_true(frame.at[0][0] == 3);
  ends(file);
  refused("xyz", "1\nLattice=\"4 0 0 0 5 0 0 0 6 7\"\nA 1 2 3\n", "nine numbers, not more");
  refused("csv", "x,y,z,X\n1,2,3,4\n", "two columns are called 'X'");
}

/* Many more points than the first room is for. */
static void grows(void **state) {
  (void)state;
  enum { N = 5000, LONG = 20 };
  char *text = malloc(N * LONG + 64);
  size_t used = (size_t)sprintf(text, "%d\n\n", N);
  for (int i = 0; i < N; i++) used += (size_t)sprintf(text + used, "X %d 1 2\n", i);
  points *file = begin("xyz", text, &plain);
  const points_frame frame = next(file);
  assert_int_equal(frame.count, N);
  for (int i = 0; i < N; i++) is_point(&frame, i, i, 1, 2);
  ends(file);
  free(text);
}

/* ---- what is refused --------------------------------------------------------------------------
 */

static void refuses_formats(void **state) {
  (void)state;
  points *file;
  rung_error error = {0};
  const points_how unknown = {.format = "xtc"};
  assert_int_equal(points_open(&file, "a.xyz", &unknown, &error), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(error.sentence, "'xtc'"));
  assert_int_equal(points_open(&file, "a.b/noext", &plain, &error), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(error.sentence, "--format"));
  assert_null(file);
  assert_int_equal(points_open(&file, "/nowhere/a.xyz", &plain, &error), RUNG_FILE_FAILED);
  assert_null(file);
}

static void refuses_numbers(void **state) {
  (void)state;
  static const char *const bad[] = {"nan", "inf", "-inf", "1e999", "x", "1.0.0", "--1", "1,5"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[512], words[64];
    snprintf(words, sizeof words, "y is '%s'", bad[i]);
    snprintf(text, sizeof text, "1\n\nO 1 %s 3\n", bad[i]);
    refused("xyz", text, words);
    snprintf(text, sizeof text, "ITEM: NUMBER OF ATOMS\n1\nITEM: ATOMS x y z\n1 %s 3\n", bad[i]);
    refused("dump", text, words);
    snprintf(text, sizeof text, "x;y;z\n1;%s;3\n", bad[i]);
    refused("csv", text, words);
    snprintf(text, sizeof text,
             "t\n2\n    1SOL     OW    1   0.230   0.113   0.113\n"
             "    1SOL     OW    1   0.230%8s   0.113\n1 1 1\n",
             bad[i]);
    refused("gro", text, words);
    refused("gro", text, "frame 1: point 2 (line 4)");
    snprintf(text, sizeof text, "ATOM      1  N   ALA A   1      11.104%8s  -6.504\n", bad[i]);
    refused("pdb", text, words);
  }
  refused("xyz", "1\n\nO 1 2 3\n2\n\nO 1 2 3\nO 1 2 nan\n",
          "frame 2: point 2 (line 7): z is 'nan'");
}

static void refuses_counts(void **state) {
  (void)state;
  static const char *const bad[] = {"-1", "x", "1.5", "99999999999999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[256], words[80];
    snprintf(words, sizeof words, "the count of points is '%s'", bad[i]);
    snprintf(text, sizeof text, "%s\n\nO 1 2 3\n", bad[i]);
    refused("xyz", text, words);
    snprintf(text, sizeof text, "t\n%s\n", bad[i]);
    refused("gro", text, words);
    snprintf(text, sizeof text, "ITEM: NUMBER OF ATOMS\n%s\n", bad[i]);
    refused("dump", text, words);
  }
  /* Counts that lie cost no memory: they are not believed. */
  refused("xyz", "1000000000000\n\nO 1 2 3\n", "the file ends before point 2 of 1000000000000");
  refused("gro", "t\n9000000000000000000\n    1SOL     OW    1   0.230   0.628   0.113\n",
          "the file ends before point 2");
  refused("dump", "ITEM: NUMBER OF ATOMS\n2000000000\nITEM: ATOMS x y z\n1 2 3\n", "truncated");
  refused("xyz", "1\n\nO 1 2 3\nO 1 2 3\n", "the count of points is 'O 1 2 3'");
}

static void refuses_boxes(void **state) {
  (void)state;
  refused("xyz", "1\nLattice=\"1 0 0 0 1 0 0 0\"\nO 1 2 3\n", "Lattice's number 9 is ''");
  refused("xyz", "1\nLattice=\"1 0 0 0 1 0 1 1 0\"\nO 1 2 3\n", "no volume");
  refused("xyz", "1\nLattice=\"0 0 0 0 0 0 0 0 0\"\nO 1 2 3\n", "no volume");
  refused("xyz", "1\nLattice=\"1 0 0 0 1 0 0 0 1\" pbc=\"T T F\"\nO 1 2 3\n", "pbc is 'T T F'");
  refused("gro", "t\n0\n1 1\n", "3 or 9 numbers");
  refused("gro", "t\n0\n1 1 -1\n", "the box's lengths are 1 1 -1");
  refused("gro", "t\n0\n1 1 0\n", "no volume");
  refused("gro", "t\n0\n1 1 nan\n", "the box's number 3 is 'nan'");
  refused("pdb", "CRYST1   10.000    0.000   30.000  90.00  90.00 120.00 P 1\n", "length b is 0");
  refused("pdb", "CRYST1   10.000   20.000   30.000  90.00 190.00 120.00 P 1\n",
          "angle beta is 190");
  refused("pdb", "CRYST1   10.000   20.000   30.000  30.00  30.00 120.00 P 1\n", "no box has");
  refused("pdb", "CRYST1   10.000   20.000\n", "CRYST1's c is ''");
  refused("dump", "ITEM: BOX BOUNDS pp pp pp\n0 1\n0 0\n0 1\n", "from 0 to 0 along y");
  refused("dump", "ITEM: BOX BOUNDS pp ff pp\n0 1\n0 1\n0 1\n", "boundaries are 'pp ff pp'");
  refused("dump", "ITEM: BOX BOUNDS xy xz yz\n0 1 0\n0 1\n0 1 0\n", "the box's number 3 is ''");
  const points_how how = {.no_box = true};
  points_close(begin("xyz", "1\nLattice=\"1 0 0\" pbc=\"T T F\"\nO 1 2 3\n", &how));
}

static void refuses_columns(void **state) {
  (void)state;
  const points_how how = {.weights = "q"};
  refused_as("xyz", "1\n\nO 1 2 3\n", &how, "no column 'q'");
  refused_as("gro", gro, &how, "no column 'q'");
  refused_as("pdb", pdb, &how, "no column 'q'");
  refused_as("csv", "1 2 3\n", &how, "no column 'q'");
  refused_as("dump", "ITEM: NUMBER OF ATOMS\n0\nITEM: ATOMS x y z\n", &how, "no column 'q'");
  refused("xyz", "1\n\nO 1 2\n", "point 1 has 3 columns; expected: 4");
  refused("xyz", "1\nProperties=pos:R\n\n", "name:type:count");
  refused("xyz", "1\nProperties=pos:R:300000000000\nO\n", "name:type:count");
  refused("xyz", "1\nProperties=pos:R:2\n1 2\n", "no pos:R:3");
  refused("dump", "ITEM: NUMBER OF ATOMS\n0\nITEM: ATOMS x y\n", "no columns of coordinates");
  refused("dump", "ITEM: ATOMS x y z\n", "does not stand before");
  refused("dump", "ITEM: NUMBER OF ATOMS\n0\nITEM: ATOMS xs ys zs\n", "before scaled coordinates");
  refused("dump", "ITEM: NONSENSE\n", "'ITEM: NONSENSE' is no section");
  refused("csv", "a,b,c\n1,2,3\n", "the first line is 'a,b,c'");
  refused("csv", "1,2\n", "point 1 has 2 columns; expected: 3");
  refused("csv", "1,2,3,O,x\n", "molecule is 'x'");
  refused("csv", "", "holds no points");
  refused("xyz", "\n\n", "holds no points");
  refused("pdb", "END\n", "holds no points");
  refused("gro", "", "holds no points");
  refused("dump", "\n", "holds no points");
}

static void refuses_lines(void **state) {
  (void)state;
  enum { LONG = (1 << 20) + 10 };
  char *text = malloc(LONG + 1);
  memset(text, ' ', LONG);
  text[LONG] = '\0';
  refused("csv", text, "line 1 is longer than");
  memcpy(text + LONG - 8, "\n1 2 3\n", 8);
  points *file = begin("csv", text + 20, &plain);
  const points_frame frame = next(file);
  assert_int_equal(frame.count, 1);
  ends(file);
  free(text);
  rung_error error;
  put("csv", "1 2 3\n4 \0 6\n", 12);
  assert_int_equal(read_all(&plain, &error), RUNG_BAD_FILE);
  assert_non_null(strstr(error.sentence, "line 2 holds a byte 0"));
  unlink(path);
}

/* ---- damage -----------------------------------------------------------------------------------
 */

/* OK or BAD_FILE, whatever the bytes are. */
static void try_bytes(const char *extension, const char *bytes, size_t count) {
  static const points_how hows[] = {{0}, {.no_box = true}, {.weights = "q"}};
  rung_error error;
  put(extension, bytes, count);
  for (int h = 0; h < 3; h++) {
    const rung_status status = read_all(&hows[h], &error);
    assert_true(status == RUNG_OK || status == RUNG_BAD_FILE);
    assert_true((status == RUNG_OK) == (error.sentence[0] == '\0'));
  }
}

static void survives(void **state) {
  (void)state;
  static const char csv[] = "x,y,z,name,molecule,q\n1,2,3,O,1,0.5\n-4e2,5.25,6,\"H\",2,1\n";
  static const struct {
    const char *extension, *text;
  } files[] = {{"xyz", xyz}, {"gro", gro}, {"pdb", pdb}, {"dump", lammps}, {"csv", csv}};
  static const char spice[] = "\n\n  0159.-+eEx:=\"'{}#,;\tnN\xff";
  rung_random random = {2};
  char text[2048];
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    const size_t count = strlen(files[f].text);
    assert_true(count < sizeof text);
    for (size_t cut = 0; cut <= count; cut++) try_bytes(files[f].extension, files[f].text, cut);
    for (int round = 0; round < 1500; round++) {
      memcpy(text, files[f].text, count);
      for (int flips = 1 + round % 4; flips > 0; flips--) {
        const uint64_t bits = rung_random_next(&random);
        text[bits % count] = bits >> 40 & 1 ? spice[(bits >> 41) % (sizeof spice - 1)]
                                            : (char)(text[bits % count] ^ 1 << (bits >> 41 & 7));
      }
      try_bytes(files[f].extension, text, count);
    }
    unlink(path);
  }
}

/* Formats that say where they end do not take a part for the whole. */
static void misses_the_end(void **state) {
  (void)state;
  static const char one[] = "1\n\nO 1 2 3\n";
  for (size_t cut = 1; cut < strlen("1\n\nO 1 2"); cut++) {
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)cut, one);
    refused("xyz", text, "");
  }
  refused("gro", "t\n1\n    1SOL     OW    1   0.230   0.628   0.113\n", "ends before its box");
  refused("gro", "t\n", "ends before its count");
  refused("pdb", "MODEL        1\nATOM      1  N   ALA A   1      11.104   6.134  -6.504\n",
          "ends before ENDMDL");
  refused("dump", "ITEM: TIMESTEP\n", "ends before ITEM: ATOMS");
  refused("dump", "ITEM: NUMBER OF ATOMS\n1\nITEM: ATOMS x y z\n", "ends before the last");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_xyz),       cmocka_unit_test(reads_gro),
      cmocka_unit_test(reads_pdb),       cmocka_unit_test(reads_any_serial),
      cmocka_unit_test(reads_variants),  cmocka_unit_test(reads_lammps),
      cmocka_unit_test(reads_csv),       cmocka_unit_test(reads_npy),
      cmocka_unit_test(grows),           cmocka_unit_test(refuses_formats),
      cmocka_unit_test(refuses_numbers), cmocka_unit_test(refuses_counts),
      cmocka_unit_test(refuses_boxes),   cmocka_unit_test(refuses_columns),
      cmocka_unit_test(refuses_lines),   cmocka_unit_test(survives),
      cmocka_unit_test(misses_the_end)};
  return cmocka_run_group_tests_name("points", tests, make_folder, drop_folder);
}
