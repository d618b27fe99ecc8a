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
{{- if and $redis.url $redis.secret.urlKey -}}
{{- fail "redis.secret.urlKey: the URL comes from redis.url already: leave one of them out" -}}
{{- end -}}
{{- if and (or $redis.secret.urlKey $redis.secret.sentinelPasswordKey) (not $redis.secret.name) -}}
{{- fail "redis.secret.name: name the Secret that redis.secret.urlKey or sentinelPasswordKey is a key of" -}}
{{- end -}}
{{- if and $redis.ca.configMap $redis.url (not (hasPrefix "rediss" $redis.url)) -}}
{{- fail "redis.ca.configMap: stands beside a URL without TLS: write rediss:// in redis.url, or leave it out" -}}
{{- end -}}
{{- if and .Values.webhook.certManager.enabled (ne .Values.admission "webhook") -}}
{{- fail "webhook.certManager.enabled: there is no webhook: set admission: webhook, or leave it out" -}}
{{- end -}}
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
{{- if and .Values.api.ingress.enabled (not .Values.api.enabled) -}}
{{- fail "api.ingress.enabled: there is no REST API to lead to: set api.enabled: true, or leave it out" -}}
{{- end -}}
{{- if and .Values.api.ingress.enabled (not .Values.api.ingress.host) -}}
{{- fail "api.ingress.host: name the host that the Ingress is for" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.api.enabled) (not .Values.metrics.enabled) -}}
{{- fail "metrics.serviceMonitor.enabled: nobody tells metrics: set metrics.enabled: true, or leave it out" -}}
{{- end -}}
{{- end -}}
