{{- define "tranche.name" -}}
{{- default .Chart.Name .Values.nameOverride -}}
{{- end -}}

{{/* Name prefix of all objects, at most 40 characters, so that every name with a suffix is still valid. */}}
{{- define "tranche.fullname" -}}
{{- default (include "tranche.wholeName" .) .Values.fullnameOverride -}}
{{- end -}}

{{- define "tranche.wholeName" -}}
{{- $name := include "tranche.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- end -}}

{{/* Name of a component's objects: { root, component }. */}}
{{- define "tranche.componentName" -}}
{{- if eq .component "all-in-one" -}}
{{- include "tranche.fullname" .root -}}
{{- else -}}
{{- printf "%s-%s" (include "tranche.fullname" .root) .component -}}
{{- end -}}
{{- end -}}

{{/* Namespace of the Lease. Controllers for different namespaces must not share a Lease. */}}
{{- define "tranche.leaseNamespace" -}}
{{- default (ternary .Release.Namespace "kube-system" (gt (len .Values.scope.namespaces) 0)) .Values.leaseNamespace -}}
{{- end -}}

{{/* Labels of every object: { root, component, labels }; the component may be "", and `labels` may be absent: they override commonLabels. */}}
{{- define "tranche.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{ include "tranche.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: tranche
app.kubernetes.io/managed-by: {{ .root.Release.Service | quote }}
{{- with merge dict (default dict .labels) (default dict .root.Values.commonLabels) }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "tranche.selector" -}}
app.kubernetes.io/name: {{ include "tranche.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Components with a Deployment, each with the key of its values. */}}
{{- define "tranche.components" -}}
{{- if eq .Values.mode "all-in-one" -}}
all-in-one: allInOne
{{- else -}}
controller: controller
executor: executor
{{- if .Values.api.enabled }}
api: api
{{- end }}
{{- end -}}
{{- end -}}

{{/* The component that serves the REST API. */}}
{{- define "tranche.apiComponent" -}}
{{- ternary "all-in-one" "api" (eq .Values.mode "all-in-one") -}}
{{- end -}}

{{/* { root, component, values } */}}
{{- define "tranche.serviceAccountName" -}}
{{- if .values.serviceAccount.create -}}
{{- default (include "tranche.componentName" .) .values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "tranche.registry" -}}
{{- default .Values.image.registry (default dict .Values.global).imageRegistry -}}
{{- end -}}

{{/* Image pull secrets of a parent chart and of this one, as YAML: [{ name }]. */}}
{{- define "tranche.pullSecrets" -}}
{{- $secrets := list -}}
{{- range concat (default list (default dict .Values.global).imagePullSecrets) (default list .Values.image.pullSecrets) -}}
{{- $secrets = append $secrets (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- with uniq $secrets }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{- define "tranche.image" -}}
{{- $repository := .Values.image.repository -}}
{{- with include "tranche.registry" . -}}{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository -}}{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Name of the Service of the webhooks, and of the Secret with their certificate. */}}
{{- define "tranche.webhookName" -}}
{{- printf "%s-webhook" (include "tranche.fullname" .) -}}
{{- end -}}

{{/* The Secret with the certificate. cert-manager's Secret outlives its Certificate, so its name differs from every name in the chart. */}}
{{- define "tranche.webhookSecret" -}}
{{- include "tranche.webhookName" . -}}{{- if .Values.webhook.certManager.enabled -}}-cert-manager{{- end -}}
{{- end -}}

{{/* The component that serves the webhooks. */}}
{{- define "tranche.webhookComponent" -}}
{{- ternary "all-in-one" "controller" (eq .Values.mode "all-in-one") -}}
{{- end -}}

{{/* Whether a component serves the webhooks: { root, component }. */}}
{{- define "tranche.servesWebhook" -}}
{{- if and (eq .root.Values.admission "webhook") (eq .component (include "tranche.webhookComponent" .root)) -}}true{{- end -}}
{{- end -}}

{{/* Paths of values with a host name that is reserved for documentation (example, example.com), as text; empty without any. */}}
{{- define "tranche.placeholders" -}}
{{- $found := list -}}
{{- range $path := list "global.imageRegistry" "image.registry" "redis.url" "api.ingress.host" "api.login.issuer" "api.login.externalUrl" "tracing.endpoint" -}}
{{- $value := (include "tranche.valueAt" (dict "values" $.Values "path" $path) | fromYaml).value | default "" -}}
{{- if regexMatch "(^|[.@/])example([.](com|net|org))?([:/,]|$)" $value -}}{{- $found = append $found $path -}}{{- end -}}
{{- end -}}
{{- join ", " $found -}}
{{- end -}}
