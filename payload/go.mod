module perflab.dev/perflab/payload

go 1.26

require github.com/HdrHistogram/hdrhistogram-go v1.4.0
