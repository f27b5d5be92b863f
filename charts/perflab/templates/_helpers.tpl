{{/* The name in labels. */}}
{{- define "perflab.name" -}}
{{- default "perflab" .Values.nameOverride }}
{{- end }}

{{/* The prefix of the objects' names. It does not depend on the release's name: a namespace has
     one operator, which earlier releases of the chart called perflab-operator. */}}
{{- define "perflab.fullname" -}}
{{- default (include "perflab.name" .) .Values.fullnameOverride }}
{{- end }}

{{/* The name of an object in the operator's namespace. */}}
{{- define "perflab.objectName" -}}
{{- printf "%s-%s" (include "perflab.fullname" (index . 0)) (index . 1) }}
{{- end }}

{{/* A file of config, with the names of this release. */}}
{{- define "perflab.file" -}}
{{- $root := index . 0 -}}
{{- $label := "app.kubernetes.io/name: " -}}
{{- $root.Files.Get (index . 1) | replace (print $label "perflab-") (print $label "\n-")
      | replace "perflab-" (print (include "perflab.fullname" $root) "-")
      | replace (print $label "\n-") (print $label (include "perflab.name" $root) "-") }}
{{- end }}

{{- define "perflab.selector" -}}
app.kubernetes.io/name: {{ include "perflab.name" . }}-operator
{{- end }}

{{/* Labels of all objects, besides the selector's. */}}
{{- define "perflab.commonLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: perflab
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "perflab.labels" -}}
{{ include "perflab.selector" . }}
app.kubernetes.io/component: operator
{{ include "perflab.commonLabels" . }}
{{- end }}

{{- define "perflab.namespaced" -}}
{{- if eq .Values.scope "Namespaced" }}true{{ end }}
{{- end }}

{{- define "perflab.watchNamespace" -}}
{{- default .Release.Namespace .Values.watchNamespace }}
{{- end }}

{{/* A cluster-wide name, which operators of single namespaces must not share. It is not
     truncated: these kinds allow names of 253 characters. */}}
{{- define "perflab.clusterName" -}}
{{- $root := index . 0 -}}
{{- $name := include "perflab.fullname" $root -}}
{{- with index . 1 }}{{ $name = printf "%s-%s" $name . }}{{ end -}}
{{- if include "perflab.namespaced" $root }}{{ printf "%s-%s" $name $root.Release.Namespace }}{{ else }}{{ $name }}{{ end }}
{{- end }}

{{- define "perflab.subjects" -}}
- kind: ServiceAccount
  name: {{ include "perflab.objectName" (list . "operator") }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* The user name of the operator. */}}
{{- define "perflab.user" -}}
{{- printf "system:serviceaccount:%s:%s" .Release.Namespace (include "perflab.objectName" (list . "operator")) }}
{{- end }}

{{/* Separate labels of the view's pod, so that the operator's selectors don't match it. */}}
{{- define "perflab.viewSelector" -}}
app.kubernetes.io/name: {{ include "perflab.name" . }}-view
{{- end }}

{{- define "perflab.viewLabels" -}}
{{ include "perflab.viewSelector" . }}
app.kubernetes.io/component: view
{{ include "perflab.commonLabels" . }}
{{- end }}

{{/* Not empty if an archive needs a volume: of a claim, or of a namespace's Secret. */}}
{{- define "perflab.archiveVolumes" -}}
{{- (.Values.archive).claim }}
{{- range (.Values.archive).namespaces }}{{ .credentialsSecret }}{{ end }}
{{- end }}

{{/* A repository, with the registry of global.imageRegistry instead of its own. */}}
{{- define "perflab.repository" -}}
{{- $registry := ((index . 0).Values.global).imageRegistry -}}
{{- $repository := index . 1 -}}
{{- if $registry -}}
{{- $parts := splitn "/" 2 $repository -}}
{{- if and $parts._1 (or (eq $parts._0 "localhost") (regexMatch "[.:]" $parts._0)) }}{{ $repository = $parts._1 }}{{ end -}}
{{- printf "%s/%s" (trimSuffix "/" $registry) $repository }}
{{- else }}{{ $repository }}{{ end }}
{{- end }}

{{/* The digest of an image of this release, from the list of images in Chart.yaml. Empty if the
     chart is not a release. */}}
{{- define "perflab.releasedDigest" -}}
{{- range index (index . 0).Chart.Annotations "artifacthub.io/images" | default "" | fromYamlArray }}
{{- if eq .name (index $ 1) }}{{ regexFind "sha256:[0-9a-f]{64}$" .image }}{{ end }}
{{- end }}
{{- end }}

{{/* The reference of an image of values.images. */}}
{{- define "perflab.image" -}}
{{- $root := index . 0 -}}
{{- $image := index $root.Values.images (index . 1) -}}
{{- if kindIs "string" $image }}{{ include "perflab.repository" (list $root $image) }}
{{- else -}}
{{- $tag := $image.tag -}}
{{- $digest := $image.digest -}}
{{- if not (or $tag $digest) -}}
{{- $tag = $root.Chart.AppVersion -}}
{{- $digest = include "perflab.releasedDigest" . -}}
{{- end -}}
{{- include "perflab.repository" (list $root $image.repository) }}
{{- with $tag }}:{{ . }}{{ end }}
{{- with $digest }}@{{ . }}{{ end }}
{{- end }}
{{- end }}

{{/* The pull policy of an image; empty: Kubernetes' default. */}}
{{- define "perflab.pullPolicy" -}}
{{- $root := index . 0 -}}
{{- $image := index $root.Values.images (index . 1) -}}
{{- $own := "" -}}
{{- if kindIs "map" $image }}{{ $own = $image.pullPolicy }}{{ end -}}
{{- /* The deprecated value is the operator's alone. */ -}}
{{- if eq (index . 1) "operator" }}{{ $own = coalesce $own $root.Values.imagePullPolicy | default "" }}{{ end -}}
{{- $own }}
{{- end }}
