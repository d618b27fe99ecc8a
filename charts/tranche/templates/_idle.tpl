{{/*
Values without effect in combination with the others, as YAML: [{ of, but, why, fix }]. `of` names values or whole sections, `but` the
values of a section that still have an effect. A value that equals the default in values.yaml counts as unset.
*/}}
{{- define "tranche.idle" -}}
{{- $values := .Values -}}
{{- $defaults := .Files.Get "files/defaults.yaml" | fromYaml -}}
{{- $tellsNothing := not (or $values.api.enabled $values.metrics.enabled) -}}
{{- if eq $values.mode "distributed" }}
- of: [allInOne]
  why: "mode distributed has no such process"
  fix: "set it below controller, executor or api, or set mode: all-in-one"
{{- else }}
- of: [controller, executor]
  why: "mode all-in-one has no such process"
  fix: "set it below allInOne, or set mode: distributed"
- of: [redis, networkPolicy.redisPorts]
  why: "mode all-in-one uses no Redis"
  fix: "set mode: distributed"
- of: [{{ range without (keys $defaults.allInOne) "workers" | sortAlpha }}api.{{ . }}, {{ end }}]
  why: "with mode all-in-one the REST API has no process of its own"
  fix: "set it below allInOne, or set mode: distributed"
{{- end }}
{{- if not $values.crds.install }}
- of: [crds.keep, crds.annotations]
  why: "the chart installs no CustomResourceDefinitions"
  fix: "set crds.install: true"
{{- end }}
{{- if ne $values.admission "webhook" }}
- of: [webhook]
  why: "there is no webhook"
  fix: "set admission: webhook"
{{- end }}
{{- if not $values.webhook.certManager.enabled }}
- of: [webhook.certManager]
  why: "the leader issues the certificate"
  fix: "set webhook.certManager.enabled: true"
{{- end }}
{{- if not $values.api.enabled }}
- of: [api, networkPolicy.apiFrom, metrics.reader, metrics.serviceMonitor.authorization]
  but: [api.enabled]
  why: "there is no REST API"
  fix: "set api.enabled: true"
{{- end }}
{{- if eq $values.api.service.type "ClusterIP" }}
- of: [api.service.nodePort, api.service.externalTrafficPolicy]
  why: "the Service has no port outside the cluster"
  fix: "set api.service.type: LoadBalancer or NodePort"
{{- end }}
{{- if ne $values.api.service.type "LoadBalancer" }}
- of: [api.service.loadBalancerClass, api.service.loadBalancerSourceRanges]
  why: "there is no load balancer"
  fix: "set api.service.type: LoadBalancer"
{{- end }}
{{- if not $values.api.hooks.enabled }}
- of: [api.hooks.secrets]
  why: "hooks are off"
  fix: "set api.hooks.enabled: true"
{{- end }}
{{- if not $values.api.login.issuer }}
- of: [api.login]
  why: "login is off without an issuer"
  fix: "set api.login.issuer"
{{- end }}
{{- if not $values.api.login.groupsClaim }}
- of: [api.login.groupsPrefix]
  why: "users have no groups"
  fix: "set api.login.groupsClaim"
{{- end }}
{{- if not $values.api.ingress.enabled }}
- of: [api.ingress]
  why: "there is no Ingress"
  fix: "set api.ingress.enabled: true"
{{- end }}
{{- if not $values.api.httpRoute.enabled }}
- of: [api.httpRoute]
  why: "there is no HTTPRoute"
  fix: "set api.httpRoute.enabled: true"
{{- end }}
{{- if not $values.rbac.groups }}
- of: [rbac.sharedGroupNamespaces]
  why: "policies may not name groups"
  fix: "set rbac.groups: true"
{{- end }}
{{- if not $values.rbac.configPin }}
- of: [rbac.pinSecretNamespaces]
  why: "policies may not pin config"
  fix: "set rbac.configPin: true"
{{- end }}
{{- if not $values.rbac.drain.namespaces }}
- of: [rbac.drain.conditions]
  why: "no policy may drain nodes"
  fix: "list namespaces in rbac.drain.namespaces"
{{- end }}
{{- if not $values.rbac.nodeLocks.namespaces }}
- of: [rbac.nodeLocks]
  but: [rbac.nodeLocks.namespaces]
  why: "no policy may lock nodes"
  fix: "list namespaces in rbac.nodeLocks.namespaces"
{{- end }}
{{- if not $values.rbac.create }}
- of: [rbac.policySecrets, api.hooks.secrets, metrics.reader]
  why: "the chart grants no permissions"
  fix: "set rbac.create: true"
{{- end }}
{{- if not $values.networkPolicy.enabled }}
- of: [networkPolicy]
  but: [networkPolicy.enabled]
  why: "there is no NetworkPolicy"
  fix: "set networkPolicy.enabled: true"
{{- end }}
{{- if $tellsNothing }}
- of: [metrics.serviceMonitor, metrics.prometheusRule, metrics.dashboard]
  why: "no process serves metrics"
  fix: "set metrics.enabled: true"
{{- end }}
{{- if not $values.metrics.enabled }}
- of: [networkPolicy.metricsFrom]
  why: "controller and executor serve no metrics"
  fix: "set metrics.enabled: true"
{{- end }}
{{- range $object, $kind := dict "serviceMonitor" "ServiceMonitor" "prometheusRule" "PrometheusRule" "dashboard" "dashboard" }}
{{- if not (index $values.metrics $object).enabled }}
- of: [metrics.{{ $object }}]
  why: "there is no {{ $kind }}"
  fix: "set metrics.{{ $object }}.enabled: true"
{{- end }}
{{- end }}
{{- range $section := list "allInOne" "controller" "executor" "api" }}
{{- $component := index $values $section | default dict }}
{{- if and (hasKey $component "serviceAccount") (not $component.serviceAccount.create) }}
- of: [{{ $section }}.serviceAccount.annotations]
  why: "the chart does not create the account"
  fix: "annotate the account, or set {{ $section }}.serviceAccount.create: true"
{{- end }}
{{- end }}
{{- if not (or $values.trustedCAs.configMap $values.trustedCAs.secret) }}
- of: [trustedCAs.key]
  why: "no ConfigMap and no Secret is named"
  fix: "set trustedCAs.configMap or trustedCAs.secret"
{{- end }}
{{- include "tranche.idleOfRedis" $values.redis }}
{{- include "tranche.idleOfTracing" $values.tracing }}
{{- end -}}

{{- define "tranche.idleOfRedis" }}
{{- if not .secret.name }}
- of: [redis.secret]
  why: "no Secret is named"
  fix: "set redis.secret.name"
{{- else if not (or .secret.passwordKey .secret.urlKey .secret.sentinelPasswordKey) }}
- of: [redis.secret.name]
  why: "no key of it is set"
  fix: "set redis.secret.passwordKey, urlKey or sentinelPasswordKey"
{{- end }}
{{- if .secret.urlKey }}
- of: [redis.secret.passwordKey]
  why: "the URL in redis.secret.urlKey holds the password"
  fix: "leave redis.secret.urlKey out and set redis.url"
{{- end }}
{{- if and .url (not (contains "+sentinel" .url)) }}
- of: [redis.secret.sentinelPasswordKey]
  why: "redis.url names no sentinels"
  fix: "write redis+sentinel://HOST:26379/NAME"
{{- end }}
{{- if not .ca.configMap }}
- of: [redis.ca.key]
  why: "no ConfigMap is named"
  fix: "set redis.ca.configMap"
{{- end }}
{{- end }}

{{- define "tranche.idleOfTracing" }}
{{- if not .endpoint }}
- of: [tracing]
  why: "tracing is off without tracing.endpoint"
  fix: "set tracing.endpoint"
{{- end }}
{{- if not (hasSuffix "traceidratio" .sampler) }}
- of: [tracing.samplerArg]
  why: "the sampler {{ .sampler }} takes no argument"
  fix: "set tracing.sampler: parentbased_traceidratio"
{{- end }}
{{- if not .headersSecret.name }}
- of: [tracing.headersSecret]
  why: "no Secret is named"
  fix: "set tracing.headersSecret.name"
{{- end }}
{{- end }}

{{/* Rejects values without effect, each with its path, cause and fix. With strictValues: false, NOTES lists them instead. */}}
{{- define "tranche.checkIdle" -}}
{{- $told := include "tranche.idleText" . -}}
{{- if and $told .Values.strictValues -}}
{{- fail (printf "%s\nWith strictValues: false, such values are only listed." $told) -}}
{{- end -}}
{{- end -}}

{{/* One line for each value without effect. */}}
{{- define "tranche.idleText" -}}
{{- $defaults := .Files.Get "files/defaults.yaml" | fromYaml -}}
{{- $told := dict -}}
{{- range include "tranche.idle" . | fromYamlArray -}}
{{- $idle := . -}}
{{- range $of := .of -}}
{{- $own := include "tranche.valueAt" (dict "values" $.Values "path" $of) | fromYaml -}}
{{- $default := include "tranche.valueAt" (dict "values" $defaults "path" $of) | fromYaml -}}
{{- range $found := include "tranche.changes" (dict "path" $of "own" $own.value "default" $default.value) | fromYamlArray -}}
{{- if not (or (has $found.path $idle.but) (hasKey $told $found.path)) -}}
{{- $_ := set $told $found.path (printf "%s: %s, and so %s does nothing: %s, or leave it out" $found.path $idle.why $found.text $idle.fix) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- values $told | sortAlpha | join "\n" -}}
{{- end -}}

{{/* The value at a path, as YAML { value }; takes { values, path }. */}}
{{- define "tranche.valueAt" -}}
{{- $value := .values -}}
{{- range splitList "." .path -}}{{- $value = index (default dict $value) . -}}{{- end -}}
{{- dict "value" $value | toYaml -}}
{{- end -}}

{{/* Values that differ from their default: [{ path, text }] as YAML; takes { path, own, default }. The text is the value if it is a scalar, else "it". */}}
{{- define "tranche.changes" -}}
{{- $default := .default -}}
{{- $path := .path -}}
{{- if and (kindIs "map" .own) (kindIs "map" $default) (or $default (eq 0 (len .own))) -}}
{{- range $key, $one := .own -}}
{{- include "tranche.changes" (dict "path" (printf "%s.%s" $path $key) "own" $one "default" (get $default $key)) }}
{{ end -}}
{{- else if and (not (kindIs "invalid" .own)) (ne (toJson .own) (toJson $default)) -}}
- { path: {{ $path | quote }}, text: {{ ternary "it" (toJson .own) (or (kindIs "map" .own) (kindIs "slice" .own)) | quote }} }
{{- end -}}
{{- end -}}
