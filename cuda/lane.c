#include "lane.h"

#include "edge/packed.h"

static bool open_events(struct ec_lane *lane, const struct ec_lane_plan *shared, struct ec_error *error)
{
    for (int i = 0; i < EC_MARK_COUNT; i++) {
        /* Only the last one is waited for; the thread sleeps meanwhile, which wakes it later. */
        const bool sleeps = i == EC_MARK_END && !shared->device->low_latency;
        const unsigned flags =
            (sleeps ? cudaEventBlockingSync : cudaEventDefault) | (shared->device->untimed ? cudaEventDisableTiming : 0);
        if (!EC_CUDA(error, cudaEventCreateWithFlags(&lane->marks[i], flags)))
            return false;
    }
    /* An event is recorded on streams of the GPU that it was made for only. */
    if (!ec_device_enter(shared->leader, error) ||
        !EC_CUDA(error, cudaEventCreateWithFlags(&lane->links[EC_LINK_DECODED], cudaEventDisableTiming)) ||
        !ec_device_enter(shared->device, error))
        return false;
    for (int i = EC_LINK_DECODED + 1; i < EC_LINK_COUNT; i++)
        if (!EC_CUDA(error, cudaEventCreateWithFlags(&lane->links[i], cudaEventDisableTiming)))
            return false;
    return shared->bands.count == 1 || ec_band_marks_open(&lane->bands, shared->bands.count, error);
}

enum ec_status ec_lane_open(struct ec_lane *lane, const struct ec_lane_plan *shared, struct ec_error *error)
{
    struct ec_device *device = shared->device;
    if (!EC_CUDA(error, cudaStreamCreateWithFlags(&lane->run, cudaStreamNonBlocking)) || !open_events(lane, shared, error) ||
        !ec_device_alloc(device, &lane->d_in, shared->in_bytes, error) ||
        !ec_device_alloc(device, &lane->d_out, shared->out_bytes, error) ||
        (shared->scratch_bytes && !ec_device_alloc(device, &lane->d_scratch, shared->scratch_bytes, error)) ||
        (shared->map_bytes && !ec_device_alloc(device, &lane->d_map, shared->map_bytes, error)) ||
        (shared->plan.automatic.kind != EC_AUTO_OFF &&
         !EC_CUDA(error, cudaHostAlloc((void **)&lane->note, sizeof *lane->note, cudaHostAllocPortable))) ||
        !ec_gpu_clock_open(&lane->clock, lane->run, error))
        return EC_ERROR_DEVICE;
    /* Vector loads take the padding of rows along; it is never used, but it should not be anybody's old memory either. The
     * lane's streams do not wait for the default one, where the clearing runs. */
    const bool cleared = EC_CUDA(error, cudaMemset(lane->d_in, 0, shared->in_bytes)) &&
                         EC_CUDA(error, cudaMemset(lane->d_out, 0, shared->out_bytes)) &&
                         (!lane->d_scratch || EC_CUDA(error, cudaMemset(lane->d_scratch, 0, shared->scratch_bytes))) &&
                         EC_CUDA(error, cudaStreamSynchronize(NULL));
    return cleared ? EC_OK : EC_ERROR_DEVICE;
}

void ec_lane_close(struct ec_lane *lane, const struct ec_lane_plan *shared)
{
    const cudaStream_t streams[] = {shared->up, lane->run, shared->down};
    for (int i = 0; i < 3; i++)
        if (streams[i])
            (void)EC_CUDA(NULL, cudaStreamSynchronize(streams[i]));
    ec_gpu_clock_close(&lane->clock);
    ec_band_marks_close(&lane->bands);
    ec_device_free(shared->device, &lane->d_map, shared->map_bytes);
    ec_device_free(shared->device, &lane->d_scratch, shared->scratch_bytes);
    ec_device_free(shared->device, &lane->d_out, shared->out_bytes);
    ec_device_free(shared->device, &lane->d_in, shared->in_bytes);
    if (lane->note)
        (void)EC_CUDA(NULL, cudaFreeHost(lane->note));
    for (int i = 0; i < EC_MARK_COUNT; i++)
        if (lane->marks[i])
            (void)EC_CUDA(NULL, cudaEventDestroy(lane->marks[i]));
    for (int i = 0; i < EC_LINK_COUNT; i++)
        if (lane->links[i])
            (void)EC_CUDA(NULL, cudaEventDestroy(lane->links[i]));
    if (lane->run)
        (void)EC_CUDA(NULL, cudaStreamDestroy(lane->run));
    *lane = (struct ec_lane){0};
}

/* One run of bytes where neither side has padding, which the copy engine takes at its full rate; else row by row. */
static bool copy_plane(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t row_bytes, int32_t rows,
                       enum cudaMemcpyKind kind, cudaStream_t stream, struct ec_error *error)
{
    if (to_pitch == row_bytes && from_pitch == row_bytes)
        return EC_CUDA(error, cudaMemcpyAsync(to, from, (size_t)row_bytes * (size_t)rows, kind, stream));
    return EC_CUDA(error, cudaMemcpy2DAsync(to, (size_t)to_pitch, from, (size_t)from_pitch, (size_t)row_bytes, (size_t)rows,
                                            kind, stream));
}

/* A gray picture has one channel, which stands for all. */
static int32_t channels_of(const struct ec_lane_plan *shared, const struct ec_image *in)
{
    return in->plane_bytes ? shared->plan.channels : 1;
}

static bool upload_planes(const struct ec_lane *lane, const struct ec_lane_plan *shared, const struct ec_image *in,
                          struct ec_error *error)
{
    const enum cudaMemcpyKind kind = in->memory == EC_MEMORY_HOST ? cudaMemcpyHostToDevice : cudaMemcpyDefault;
    for (int32_t c = 0; c < channels_of(shared, in); c++)
        if (!copy_plane((char *)lane->d_in + c * shared->in_plane_bytes, shared->in_pitch_bytes,
                        (const char *)in->data + c * in->plane_bytes, in->pitch_bytes, shared->in_row_bytes, shared->height_px,
                        kind, shared->up, error))
            return false;
    return true;
}

static bool mark(const struct ec_lane *lane, enum ec_lane_mark m, struct ec_error *error)
{
    return EC_CUDA(error, cudaEventRecord(lane->marks[m], lane->run));
}

/* What is queued on `to` from now on waits for what is queued on `from` up to now. */
static bool link_streams(cudaEvent_t event, cudaStream_t from, cudaStream_t to, struct ec_error *error)
{
    return EC_CUDA(error, cudaEventRecord(event, from)) && EC_CUDA(error, cudaStreamWaitEvent(to, event, 0));
}

static bool link_decoder(const struct ec_lane *lane, const struct ec_lane_plan *shared, cudaStream_t decode_stream,
                         cudaStream_t to, struct ec_error *error)
{
    const cudaEvent_t link = lane->links[EC_LINK_DECODED];
    return ec_device_enter(shared->leader, error) && EC_CUDA(error, cudaEventRecord(link, decode_stream)) &&
           ec_device_enter(shared->device, error) && EC_CUDA(error, cudaStreamWaitEvent(to, link, 0));
}

/* Rows of the result that the kernels queued so far make, as they leave the device. d_rows: in the lane's output plane. */
static bool pack_rows(const struct ec_lane *lane, const struct ec_lane_plan *shared, const char *d_rows, int32_t first,
                      int32_t rows, struct ec_error *error)
{
    const int64_t pitch = ec_packed_row_bytes(shared->width_px);
    return !shared->map_bytes ||
           ec_kernels_pack(d_rows, shared->out_pitch_bytes, shared->plan.output_depth_bits > 8,
                           (char *)lane->d_map + first * pitch, pitch, shared->width_px, rows, lane->run, error) == EC_OK;
}

static bool download_rows(const struct ec_lane *lane, const struct ec_lane_plan *shared, const char *d_rows, int32_t first,
                          int32_t rows, const struct ec_image *out, struct ec_error *error)
{
    const int64_t map_pitch = ec_packed_row_bytes(shared->width_px);
    char *to = (char *)out->data + first * out->pitch_bytes;
    if (shared->map_bytes)
        return copy_plane(to, out->pitch_bytes, (char *)lane->d_map + first * map_pitch, map_pitch, map_pitch, rows,
                          cudaMemcpyDeviceToHost, shared->down, error);
    return copy_plane(to, out->pitch_bytes, d_rows, shared->out_pitch_bytes, shared->out_row_bytes, rows,
                      cudaMemcpyDeviceToHost, shared->down, error);
}

/* The frame band by band: each upload is followed at once by its kernels and their download, while the next one comes. */
static enum ec_status submit_bands(struct ec_lane *lane, const struct ec_lane_plan *shared, const struct ec_gpu_frame *whole,
                                   const struct ec_image *in, const struct ec_image *out, struct ec_error *error)
{
    int32_t uploaded = 0;
    for (int32_t i = 0; i < shared->bands.count; i++) {
        const struct ec_band *band = &shared->bands.bands[i];
        const int32_t bottom = band->top + band->height;
        char *d_in = lane->d_in, *d_out = (char *)lane->d_out + band->out_offset;
        const char *d_rows = d_out + (band->first - band->top) * shared->out_pitch_bytes;
        if (!copy_plane(d_in + uploaded * shared->in_pitch_bytes, shared->in_pitch_bytes,
                        (const char *)in->data + uploaded * in->pitch_bytes, in->pitch_bytes, shared->in_row_bytes,
                        bottom - uploaded, cudaMemcpyHostToDevice, shared->up, error) ||
            !link_streams(lane->bands.uploaded[i], shared->up, lane->run, error) ||
            (i + 1 == shared->bands.count && !mark(lane, EC_MARK_UPLOADED, error)) ||
            !EC_CUDA(error, cudaEventRecord(lane->bands.started[i], lane->run)))
            return EC_ERROR_DEVICE;
        uploaded = bottom;
        struct ec_gpu_frame part = *whole;
        part.d_in = d_in + band->top * shared->in_pitch_bytes;
        part.d_out = d_out;
        part.height_px = band->height;
        const enum ec_status status = ec_kernels_run(&shared->plan, shared->d_plan, lane->d_scratch, &part, lane->run, error);
        if (status != EC_OK)
            return status;
        if (!pack_rows(lane, shared, d_rows, band->first, band->rows, error) ||
            !EC_CUDA(error, cudaEventRecord(lane->bands.ended[i], lane->run)) ||
            !link_streams(lane->bands.computed[i], lane->run, shared->down, error) ||
            !download_rows(lane, shared, d_rows, band->first, band->rows, out, error))
            return EC_ERROR_DEVICE;
    }
    return link_streams(lane->links[EC_LINK_DOWNLOADED], shared->down, lane->run, error) && mark(lane, EC_MARK_END, error)
               ? EC_OK
               : EC_ERROR_DEVICE;
}

enum ec_status ec_lane_submit(struct ec_lane *lane, struct ec_lane_plan *shared, const struct ec_image *in, bool limited_range,
                              const struct ec_image *out, struct ec_error *error)
{
    /* What another GPU decoded comes over like a frame from the host. */
    const bool host = in->memory == EC_MEMORY_HOST, upload = host || shared->device != shared->leader;
    const bool download = out->memory == EC_MEMORY_HOST;
    const cudaStream_t decode_stream = host ? NULL : shared->leader->decode_stream;
    const int32_t rows = shared->height_px, channels = channels_of(shared, in);
    struct ec_gpu_frame frame = {
        .d_in = upload ? lane->d_in : in->data,
        .d_out = download ? lane->d_out : out->data,
        .in_pitch_bytes = upload ? shared->in_pitch_bytes : in->pitch_bytes,
        .in_plane_bytes = channels == 1 ? 0
                          : upload      ? shared->in_plane_bytes
                                        : in->plane_bytes,
        .out_pitch_bytes = download ? shared->out_pitch_bytes : out->pitch_bytes,
        .width_px = shared->width_px,
        .height_px = rows,
        .limited_range = limited_range,
        .d_state = shared->d_state,
        .note = lane->note,
        .in_padded = upload,
        .out_padded = download,
    };
    lane->h2d_bytes = host ? channels * shared->in_row_bytes * rows : 0;
    lane->d2h_bytes = !download ? 0 : shared->map_bytes ? (int64_t)shared->map_bytes : shared->out_row_bytes * rows;
    lane->submitted_ns = ec_monotonic_ns();
    if (!ec_gpu_clock_refresh(&lane->clock, lane->run, error))
        return EC_ERROR_DEVICE;

    lane->cut = host && download && shared->bands.count > 1;
    if (lane->cut)
        return submit_bands(lane, shared, &frame, in, out, error);
    /* A decoder may still be writing the frame: what it has queued comes first. */
    if (decode_stream && !link_decoder(lane, shared, decode_stream, upload ? shared->up : lane->run, error))
        return EC_ERROR_DEVICE;
    if (upload &&
        (!upload_planes(lane, shared, in, error) || !link_streams(lane->links[EC_LINK_UPLOADED], shared->up, lane->run, error)))
        return EC_ERROR_DEVICE;
    if (!mark(lane, EC_MARK_UPLOADED, error))
        return EC_ERROR_DEVICE;
    if (lane->note)
        lane->note->weight = ec_auto_clock_weight(&shared->automatic, shared->plan.automatic.time_ns, in->time_ns);
    if (shared->state_bytes && !EC_CUDA(error, cudaStreamWaitEvent(lane->run, shared->state_done, 0)))
        return EC_ERROR_DEVICE;
    enum ec_status status = EC_OK;
    if (in->memory == EC_MEMORY_DEVICE_HIGH) {
        for (int32_t c = 0; c < channels && status == EC_OK; c++) {
            struct ec_gpu_frame channel = frame;
            channel.d_in = (const char *)frame.d_in + c * frame.in_plane_bytes;
            status = ec_kernels_unpack(&channel, (char *)lane->d_in + c * shared->in_plane_bytes, shared->in_pitch_bytes,
                                       16 - shared->plan.depth_bits, lane->run, error);
        }
        frame.in_plane_bytes = channels == 1 ? 0 : shared->in_plane_bytes;
        frame.d_in = lane->d_in;
        frame.in_pitch_bytes = shared->in_pitch_bytes;
        frame.in_padded = true;
    }
    if (status == EC_OK)
        status = ec_kernels_run(&shared->plan, shared->d_plan, lane->d_scratch, &frame, lane->run, error);
    if (status != EC_OK)
        return status;
    if (shared->state_bytes && !EC_CUDA(error, cudaEventRecord(shared->state_done, lane->run)))
        return EC_ERROR_DEVICE;
    if (download) {
        const bool queued = pack_rows(lane, shared, lane->d_out, 0, rows, error) && mark(lane, EC_MARK_COMPUTED, error) &&
                            link_streams(lane->links[EC_LINK_COMPUTED], lane->run, shared->down, error) &&
                            download_rows(lane, shared, lane->d_out, 0, rows, out, error) &&
                            link_streams(lane->links[EC_LINK_DOWNLOADED], shared->down, lane->run, error);
        if (!queued)
            return EC_ERROR_DEVICE;
    }
    return mark(lane, EC_MARK_END, error) ? EC_OK : EC_ERROR_DEVICE;
}

static bool map_mark(const struct ec_lane *lane, enum ec_lane_mark m, int64_t *ns, struct ec_error *error)
{
    return ec_gpu_clock_map(&lane->clock, lane->marks[m], ns, error);
}

/* When a copy that ended at end_ns began: it was queued at queued_ns, and its engine was busy until before_ns. Those are times
 * of other clocks (the host's, another lane's), which may lie some microseconds after end_ns. */
static int64_t copy_start(int64_t queued_ns, int64_t before_ns, int64_t end_ns)
{
    const int64_t start_ns = queued_ns > before_ns ? queued_ns : before_ns;
    return start_ns < end_ns ? start_ns : end_ns;
}

/* The kernels of the bands, with the gaps between them pushed together before the end of the last one: as much time as they
 * took. */
static bool map_bands(const struct ec_lane *lane, int32_t count, struct ec_job_times *times, int64_t *first_ns,
                      struct ec_error *error)
{
    int64_t busy_ns = 0, end_ns = 0;
    for (int32_t i = 0; i < count; i++) {
        int64_t start_ns = 0;
        if (!ec_gpu_clock_map(&lane->clock, lane->bands.started[i], &start_ns, error) ||
            !ec_gpu_clock_map(&lane->clock, lane->bands.ended[i], &end_ns, error))
            return false;
        busy_ns += end_ns - start_ns;
        if (i == 0)
            *first_ns = end_ns;
    }
    times->start_ns[EC_ENGINE_COMPUTE] = end_ns - busy_ns;
    times->end_ns[EC_ENGINE_COMPUTE] = end_ns;
    return true;
}

enum ec_status ec_lane_wait(struct ec_lane *lane, struct ec_lane_plan *shared, struct ec_job_times *times,
                            struct ec_error *error)
{
    if (!EC_CUDA(error, cudaEventSynchronize(lane->marks[EC_MARK_END])))
        return EC_ERROR_DEVICE;
    if (!times)
        return EC_OK;
    *times = (struct ec_job_times){.h2d_bytes = lane->h2d_bytes, .d2h_bytes = lane->d2h_bytes};
    if (lane->note)
        ec_job_tell_thresholds(times, &lane->note->choice);
    if (shared->device->untimed)
        return EC_OK;
    const bool upload = lane->h2d_bytes > 0, download = lane->d2h_bytes > 0;
    int64_t uploaded_ns = 0, computed_ns = 0, end_ns = 0, ready_ns = 0; /* ready: for the first download */
    if (!map_mark(lane, EC_MARK_UPLOADED, &uploaded_ns, error) || !map_mark(lane, EC_MARK_END, &end_ns, error))
        return EC_ERROR_DEVICE;
    computed_ns = end_ns;
    if (lane->cut ? !map_bands(lane, shared->bands.count, times, &ready_ns, error)
                  : download && !map_mark(lane, EC_MARK_COMPUTED, &computed_ns, error))
        return EC_ERROR_DEVICE;
    if (!lane->cut) {
        times->start_ns[EC_ENGINE_COMPUTE] = uploaded_ns;
        times->end_ns[EC_ENGINE_COMPUTE] = ready_ns = computed_ns;
    }
    if (upload) {
        times->start_ns[EC_ENGINE_H2D] = copy_start(lane->submitted_ns, shared->uploaded_ns, uploaded_ns);
        times->end_ns[EC_ENGINE_H2D] = uploaded_ns;
        shared->uploaded_ns = uploaded_ns;
    }
    if (download) {
        times->start_ns[EC_ENGINE_D2H] = copy_start(ready_ns, shared->downloaded_ns, end_ns);
        times->end_ns[EC_ENGINE_D2H] = end_ns;
        shared->downloaded_ns = end_ns;
    }
    return EC_OK;
}
