/* The type in which FFmpeg counts the bytes of a buffer, which its releases before 5.0 had as int. */
#ifndef EC_EDGE_BUFFER_SIZE_H
#define EC_EDGE_BUFFER_SIZE_H

#include <libavutil/buffer.h>
#include <libavutil/version.h>
#include <stddef.h>

#if LIBAVUTIL_VERSION_MAJOR < 57
typedef int ec_buffer_size;
#else
typedef size_t ec_buffer_size;
#endif

#endif
