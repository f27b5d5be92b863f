module perflab.dev/perflab/hack/cluster/pause

go 1.26.0
