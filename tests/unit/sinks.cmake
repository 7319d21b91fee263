# What takes frames.
set(sink_libraries edgecam_sink edgecam_pipeline edgecam_source edgecam_edge edgecam_cuda)
foreach(name pictures streams target lines)
  edgecam_test(test_sink_${name} LABEL unit SOURCES test_sink_${name}.c sink_support.c LIBRARIES ${sink_libraries})
endforeach()
