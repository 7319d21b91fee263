/* embed IN.pgm OUT.pgm [OPERATOR]: the library in a program of your own: an image in, its edges out.
 *
 *   cc embed.c -o embed $(pkg-config --cflags --libs edgecam)
 *   ffmpeg -i photo.jpg photo.pgm && ./embed photo.pgm edges.pgm canny && ffmpeg -i edges.pgm edges.png
 *
 * The three calls are ec_edge_open, ec_edge_run and ec_edge_close; the rest is getting pixels. They come as PGM ("P5"), because
 * that is a line of text before the bytes: nothing to link, nothing to hide the calls behind, and every image tool converts to
 * it. A program that has its pixels in memory already (a camera's, a toolkit's) points ec_image at them, and needs none of
 * this. */
#include <ctype.h>
#include <edgecam/edgecam.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages of the library, a sentence each. */
static void print_message(void *opaque, enum ec_log_level level, const char *text)
{
    (void)opaque;
    if (level <= EC_LOG_WARNING)
        fprintf(stderr, "embed: %s\n", text);
}

/* The next number of a PGM header and the one white space after it; -1 for anything else. Comments end with their line. */
static long read_number(FILE *f)
{
    long value = 0;
    int c = fgetc(f);
    while (c == '#' || isspace(c)) {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = fgetc(f);
        c = fgetc(f);
    }
    if (!isdigit(c))
        return -1;
    while (isdigit(c) && value <= EC_IMAGE_MAX_SIDE_PX) {
        value = value * 10 + (c - '0');
        c = fgetc(f);
    }
    return isspace(c) ? value : -1;
}

/* Reads an 8-bit PGM; the pixels are the caller's to free. False, after a message, if it is none. */
static bool read_pgm(const char *name, struct ec_image *image)
{
    FILE *f = fopen(name, "rb");
    char magic[2] = {0};
    bool read = false;
    if (!f) {
        fprintf(stderr, "embed: '%s' cannot be opened\n", name);
        return false;
    }
    if (fread(magic, 1, 2, f) == 2 && memcmp(magic, "P5", 2) == 0) {
        const long width = read_number(f), height = read_number(f), largest = read_number(f);
        if (width >= 1 && width <= EC_IMAGE_MAX_SIDE_PX && height >= 1 && height <= EC_IMAGE_MAX_SIDE_PX && largest == 255) {
            const size_t bytes = (size_t)width * (size_t)height;
            image->width_px = (int)width;
            image->height_px = (int)height;
            image->pitch_bytes = width;
            image->depth_bits = 8;
            image->data = malloc(bytes);
            read = image->data && fread(image->data, 1, bytes, f) == bytes;
        }
    }
    if (!read)
        fprintf(stderr, "embed: '%s' is not a complete 8-bit PGM image (P5, largest value 255)\n", name);
    fclose(f);
    return read;
}

static bool write_pgm(const char *name, const struct ec_image *image)
{
    FILE *f = fopen(name, "wb");
    const size_t bytes = (size_t)image->width_px * (size_t)image->height_px;
    bool written =
        f && fprintf(f, "P5\n%d %d\n255\n", image->width_px, image->height_px) > 0 && fwrite(image->data, 1, bytes, f) == bytes;
    if (f && fclose(f) != 0)
        written = false;
    if (!written)
        fprintf(stderr, "embed: '%s' cannot be written\n", name);
    return written;
}

static bool find_operator(const char *name, enum ec_operator *op)
{
    for (int i = 0; ec_operator_name((enum ec_operator)i); i++)
        if (strcmp(ec_operator_name((enum ec_operator)i), name) == 0) {
            *op = (enum ec_operator)i;
            return true;
        }
    fprintf(stderr, "embed: there is no operator '%s'\n", name);
    return false;
}

int main(int argc, char **argv)
{
    struct ec_edge_params params = {.logger = {.message = print_message}};
    struct ec_image in = {0}, out = {0};
    struct ec_edge *edge = NULL;
    int exit_status = EXIT_FAILURE;
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: embed IN.pgm OUT.pgm [OPERATOR]\n");
        return 2;
    }
    if ((argc > 3 && !find_operator(argv[3], &params.op)) || !read_pgm(argv[1], &in))
        goto done;
    out = in; /* the same size and depth, other memory */
    out.data = malloc((size_t)in.width_px * (size_t)in.height_px);
    if (!out.data) {
        fprintf(stderr, "embed: out of memory\n");
        goto done;
    }
    /* Zeroed parameters are the defaults: Sobel, and the first GPU if one works, else the CPU. */
    if (ec_edge_open(&edge, &params, NULL) != EC_OK || ec_edge_run(edge, &in, &out) != EC_OK)
        goto done;
    if (write_pgm(argv[2], &out)) {
        printf("%d x %d pixels, %s on the %s\n", out.width_px, out.height_px, ec_operator_name(params.op),
               ec_edge_backend(edge));
        exit_status = EXIT_SUCCESS;
    }

done:
    ec_edge_close(&edge);
    free(in.data);
    free(out.data);
    return exit_status;
}
