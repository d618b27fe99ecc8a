{{/* What the schema cannot say; every message names the value, and what to write instead. */}}
{{- define "tranche.check" -}}
{{- $redis := .Values.redis -}}
{{- $hasRedis := or $redis.url $redis.secret.urlKey -}}
{{- if and (eq .Values.mode "distributed") (not $hasRedis) -}}
{{- fail "redis.url: mode distributed shares work over Redis: set redis.url, or redis.secret.name and redis.secret.urlKey, or mode: all-in-one" -}}
{{- end -}}
{{- if and (eq .Values.mode "all-in-one") $hasRedis -}}
{{- fail "redis.url: mode all-in-one uses no Redis: set mode: distributed, or leave redis out" -}}
{{- end -}}
{{- /* Not by the schema, whose messages repeat the value. */ -}}
{{- if regexMatch "//[^/@]*:.*@" $redis.url -}}
{{- fail "redis.url: holds a password, which would stand in the Deployment: leave it out of the URL, and name a Secret with it in redis.secret.name" -}}
{{- end -}}
{{- if and $redis.url (not (regexMatch "^rediss?(\\+sentinel)?://([^:@/\\s]+@)?[^@/?#\\s]+(/[^?#\\s]*)?$" $redis.url)) -}}
{{- fail (printf "redis.url: %q is none: give redis://HOST:6379, rediss://HOST:6380 or redis+sentinel://HOST:26379,HOST:26379/NAME" $redis.url) -}}
{{- end -}}
{{- range $port := regexFindAll ":[0-9]+" (regexReplaceAll "\\[[^\\]]*\\]" $redis.url "") -1 -}}
{{- $number := trimPrefix ":" $port | atoi -}}
{{- if or (lt $number 1) (gt $number 65535) -}}
{{- fail (printf "redis.url: %q names port %d: ports go from 1 to 65535" $redis.url $number) -}}
{{- end -}}
{{- end -}}
{{- if and $redis.url $redis.secret.urlKey -}}
{{- fail "redis.secret.urlKey: the URL comes from redis.url already: leave one of them out" -}}
{{- end -}}
{{- if and (or $redis.secret.urlKey $redis.secret.sentinelPasswordKey) (not $redis.secret.name) -}}
{{- fail "redis.secret.name: name the Secret that redis.secret.urlKey or sentinelPasswordKey is a key of" -}}
{{- end -}}
{{- if and $redis.ca.configMap $redis.url (not (hasPrefix "rediss" $redis.url)) -}}
{{- fail "redis.ca.configMap: stands beside a URL without TLS: write rediss:// in redis.url, or leave it out" -}}
{{- end -}}
{{- if and (not .Values.fullnameOverride) (gt (len (include "tranche.wholeName" .)) 40) -}}
{{- fail (printf "fullnameOverride: the names of objects would begin with %q, which is longer than 40 characters: set a shorter one" (include "tranche.wholeName" .)) -}}
{{- end -}}
{{- range $component, $key := include "tranche.components" . | fromYaml -}}
{{- $taken := list "tmp" "redis" "redis-ca" "webhook" "tls" "login" "trusted-cas" -}}
{{- range $at, $volume := (index $.Values $key).extraVolumes -}}
{{- if has $volume.name $taken -}}
{{- fail (printf "%s.extraVolumes[%d].name: %q is the name of a volume of the chart: take another" $key $at $volume.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- include "tranche.checkIdle" . -}}
{{- include "tranche.checkLabels" . -}}
{{- include "tranche.checkVariables" . -}}
{{- if and (eq .Values.admission "webhook") (semverCompare "<1.30.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "admission: webhook needs Kubernetes 1.30, in which it can be kept away from what is none of ours, and this is %s: set admission: none" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if and (eq .Values.admission "policy") (semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "admission: policy needs Kubernetes 1.36, which serves MutatingAdmissionPolicy in version v1, and this is %s: set admission: webhook or none" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- $login := .Values.api.login -}}
{{- if $login.issuer -}}
{{- range $key := list "clientId" "externalUrl" -}}
{{- if not (get $login $key) -}}{{- fail (printf "api.login.%s: is needed with api.login.issuer" $key) -}}{{- end -}}
{{- end -}}
{{- if not $login.secret.name -}}
{{- fail "api.login.secret.name: name the Secret with the session key: login needs one that all replicas share" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.api.ingress.enabled (not .Values.api.ingress.host) -}}
{{- fail "api.ingress.host: name the host that the Ingress is for" -}}
{{- end -}}
{{- end -}}

{{/* By these objects are found: two of one name, and one of them would count. */}}
{{- define "tranche.checkLabels" -}}
{{- range $path := list "commonLabels" "allInOne.podLabels" "controller.podLabels" "executor.podLabels" "api.podLabels" "metrics.serviceMonitor.labels" "metrics.prometheusRule.labels" "metrics.dashboard.labels" -}}
{{- range $label := (include "tranche.valueAt" (dict "values" $.Values "path" $path) | fromYaml).value | default dict | keys | sortAlpha -}}
{{- if regexMatch "^(helm\\.sh/chart|app\\.kubernetes\\.io/(name|instance|component|version|part-of|managed-by))$" $label -}}
{{- fail (printf "%s: %s is the chart's own, by which objects and pods are found: leave it out, or take another name" $path $label) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tranche.checkVariables" -}}
{{- range $component, $key := include "tranche.components" . | fromYaml -}}
{{- $values := index $.Values $key -}}
{{- range $own := include "tranche.env" (dict "root" $ "component" $component "values" (omit $values "extraEnv")) | fromYamlArray -}}
{{- range $at, $given := $values.extraEnv -}}
{{- if eq $own.name $given.name -}}
{{- $fix := "leave it out" -}}
{{- if eq $own.name "NODE_OPTIONS" }}{{ $fix = printf "set %s.nodeOptions" $key }}{{ end -}}
{{- if hasPrefix "OTEL_" $own.name }}{{ $fix = "set it below tracing" }}{{ end -}}
{{- if eq $own.name "NODE_EXTRA_CA_CERTS" }}{{ $fix = "set trustedCAs" }}{{ end -}}
{{- if hasPrefix "TRANCHE_REDIS_" $own.name }}{{ $fix = "set it below redis" }}{{ end -}}
{{- fail (printf "%s.extraEnv[%d]: %s is set by the chart already: %s" $key $at $own.name $fix) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
