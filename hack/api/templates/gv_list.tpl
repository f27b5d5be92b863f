{{- define "gvList" -}}
# API reference

<!-- Made by `make generate` from api/v1alpha1; change the comments there. -->

Every field of PerfLab's kinds. `kubectl explain perfexperiment.spec.design` says the
same on a cluster; [experiments](experiments.md) says how they go together. A field that
is not called required may be left out. Sentences in a list under a type are rules it
keeps to, as the API server tells them; what takes several objects to know is told by the
operator ([how](how-it-works.md#validation)).
{{ range . }}
{{ template "gvDetails" . }}
{{ end }}
{{- end -}}
