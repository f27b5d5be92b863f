module perflab.dev/perflab/payload

go 1.26
