{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}

## {{ $type.Name }}

{{ $type.Doc }}
{{- with index $type.Markers "kubebuilder:validation:XValidation" }}
{{ range . }}
* {{ .Message | replace "<" "&lt;" }}
{{- end }}
{{- end }}
{{- if $type.References }}

In {{ range $i, $user := $type.SortedReferences }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $user }}{{ end }}.
{{- end }}
{{- if $type.EnumValues }}

| value | meaning |
|---|---|
{{- range $type.EnumValues }}
| `{{ .Name }}` | {{ template "sentence" .Doc }} |
{{- end }}
{{- else if $type.Members }}

| field | meaning | may hold |
|---|---|---|
{{- range $type.Members }}
| `{{ .Name }}` {{ markdownRenderType .Type }} | {{ if eq .Name "metadata" }}as in every object of Kubernetes{{ else }}{{ template "sentence" .Doc }}{{ end }} | {{ template "rules" .Validation }} |
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* A comment is wrapped where the line is full, which means nothing. */ -}}
{{- define "sentence" }}{{ markdownRenderFieldDoc . | replace "<br />" " " | replace "<" "&lt;" | trim }}{{ end -}}

{{- /* What JSON schema says in its own words; rules in CEL by their message. */ -}}
{{- define "rules" -}}
{{- $told := list -}}
{{- range . -}}
{{- if hasPrefix "Required:" . -}}{{ $told = append $told "required" -}}
{{- else if contains "XValidation:" . -}}{{ $told = append $told (regexReplaceAll `^.*self\.matches\(r?'.*'\) (.*\S)\s+<nil>}$` . "${1}" | markdownRenderFieldDoc) -}}
{{- else if not (regexMatch `^(Optional|Type|Schemaless):` .) -}}{{ $told = append $told (markdownRenderFieldDoc .) -}}
{{- end -}}
{{- end -}}
{{- join "; " $told -}}
{{- end -}}
