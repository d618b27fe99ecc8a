{{/* Checks that the schema cannot express. Every message names the value and the fix. */}}
{{- define "tranche.check" -}}
{{- $redis := .Values.redis -}}
{{- $hasRedis := or $redis.url $redis.secret.urlKey -}}
{{- if and (eq .Values.mode "distributed") (not $hasRedis) -}}
{{- fail "redis.url: mode distributed needs Redis: set redis.url, or redis.secret.name and redis.secret.urlKey, or mode: all-in-one" -}}
{{- end -}}
{{- if and (eq .Values.mode "all-in-one") $hasRedis -}}
{{- fail "redis.url: mode all-in-one uses no Redis: set mode: distributed, or remove redis" -}}
{{- end -}}
{{- /* Not in the schema: its messages repeat the value, here a password. */ -}}
{{- if regexMatch "//[^/@]*:.*@" $redis.url -}}
{{- fail "redis.url: holds a password, which would be visible in the Deployment: remove it from the URL, and set redis.secret.name to a Secret that holds it" -}}
{{- end -}}
{{- if and $redis.url (not (regexMatch "^rediss?(\\+sentinel)?://([^:@/\\s[:cntrl:]]+@)?[^@/?#\\s[:cntrl:]]+(/[^?#\\s[:cntrl:]]*)?$" $redis.url)) -}}
{{- fail (printf "redis.url: %q is not a Redis URL: use redis://HOST:6379, rediss://HOST:6380 or redis+sentinel://HOST:26379,HOST:26379/NAME" $redis.url) -}}
{{- end -}}
{{- range $port := regexFindAll ":[0-9]+" (regexReplaceAll "\\[[^\\]]*\\]" $redis.url "") -1 -}}
{{- $number := trimPrefix ":" $port | atoi -}}
{{- if or (lt $number 1) (gt $number 65535) -}}
{{- fail (printf "redis.url: %q has port %d: use a port from 1 to 65535" $redis.url $number) -}}
{{- end -}}
{{- end -}}
{{- if and $redis.url $redis.secret.urlKey -}}
{{- fail "redis.secret.urlKey: redis.url is set too: remove one of them" -}}
{{- end -}}
{{- if and (or $redis.secret.urlKey $redis.secret.sentinelPasswordKey) (not $redis.secret.name) -}}
{{- fail "redis.secret.name: is required with redis.secret.urlKey and sentinelPasswordKey: set it to the Secret that has the key" -}}
{{- end -}}
{{- if and $redis.ca.configMap $redis.url (not (hasPrefix "rediss" $redis.url)) -}}
{{- fail "redis.ca.configMap: redis.url is without TLS: use rediss:// in redis.url, or remove redis.ca.configMap" -}}
{{- end -}}
{{- if and (not .Values.fullnameOverride) (gt (len (include "tranche.wholeName" .)) 40) -}}
{{- fail (printf "fullnameOverride: the names of objects would begin with %q, which is longer than 40 characters: set a shorter one" (include "tranche.wholeName" .)) -}}
{{- end -}}
{{- range $component, $key := include "tranche.components" . | fromYaml -}}
{{- $taken := list "tmp" "redis" "redis-ca" "webhook" "tls" "login" "trusted-cas" -}}
{{- range $at, $volume := (index $.Values $key).extraVolumes -}}
{{- if has $volume.name $taken -}}
{{- fail (printf "%s.extraVolumes[%d].name: %q is the name of a volume of the chart: use another name" $key $at $volume.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.trustedCAs.configMap .Values.trustedCAs.secret -}}
{{- fail "trustedCAs.secret: trustedCAs.configMap is set too: remove one of them" -}}
{{- end -}}
{{- include "tranche.checkFamilies" . -}}
{{- include "tranche.checkPods" . -}}
{{- include "tranche.checkSettings" . -}}
{{- include "tranche.checkIdle" . -}}
{{- include "tranche.checkLabels" . -}}
{{- include "tranche.checkVariables" . -}}
{{- if and (eq .Values.admission "webhook") (semverCompare "<1.30.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "admission: webhook needs Kubernetes 1.30 or later, which can limit the webhook to bound DaemonSets, and this is %s: set admission: none" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if and .Values.rbac.configPin (semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "rbac.configPin: names in pods are replaced by a MutatingAdmissionPolicy in version v1, which Kubernetes serves from 1.36 on, and this is %s: set rbac.configPin: false" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if and (eq .Values.admission "policy") (semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "admission: policy needs Kubernetes 1.36 or later, which serves MutatingAdmissionPolicy in version v1, and this is %s: set admission: webhook or none" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- $login := .Values.api.login -}}
{{- if $login.issuer -}}
{{- range $key := list "clientId" "externalUrl" -}}
{{- if not (get $login $key) -}}{{- fail (printf "api.login.%s: is required with api.login.issuer" $key) -}}{{- end -}}
{{- end -}}
{{- if not $login.secret.name -}}
{{- fail "api.login.secret.name: is required with api.login.issuer: set it to the Secret with the session key, which all replicas share" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.api.ingress.enabled (not .Values.api.ingress.host) -}}
{{- fail "api.ingress.host: is required with api.ingress.enabled: set it to the host of the Ingress" -}}
{{- end -}}
{{- if and .Values.api.httpRoute.enabled (not .Values.api.httpRoute.parentRefs) -}}
{{- fail "api.httpRoute.parentRefs: is required with api.httpRoute.enabled: set it to the Gateway, such as [{ name: public, namespace: gateways }]" -}}
{{- end -}}
{{- end -}}

{{/* Rejects IP families that contradict each other, or addresses on which no pod listens. */}}
{{- define "tranche.checkFamilies" -}}
{{- $families := .Values.service.ipFamilies -}}
{{- $policy := .Values.service.ipFamilyPolicy -}}
{{- if and (eq (len $families) 2) (or (not $policy) (eq $policy "SingleStack")) -}}
{{- fail (printf "service.ipFamilyPolicy: %q has room for one of service.ipFamilies: set PreferDualStack or RequireDualStack, or remove one family" (default "SingleStack" $policy)) -}}
{{- end -}}
{{- if and (ne .Values.listenHost "::") (or (has "IPv6" $families) (hasSuffix "DualStack" $policy)) -}}
{{- fail (printf "listenHost: pods do not listen on IPv6 with %q, and service.%s sends connections there: set listenHost: \"::\"" .Values.listenHost (ternary "ipFamilies" "ipFamilyPolicy" (has "IPv6" $families))) -}}
{{- end -}}
{{- end -}}

{{/* Rejects volumes, mounts and containers with which the API server would reject the pods. */}}
{{- define "tranche.checkPods" -}}
{{- range $component, $key := include "tranche.components" . | fromYaml -}}
{{- $values := index $.Values $key -}}
{{- $files := include "tranche.files" (dict "root" $ "component" $component "values" $values) | fromYamlArray -}}
{{- $volumes := list "tmp" -}}
{{- $paths := list "/tmp" -}}
{{- range $files -}}{{- $volumes = append $volumes .name -}}{{- $paths = append $paths .path -}}{{- end -}}
{{- range $values.extraVolumes -}}{{- $volumes = append $volumes .name -}}{{- end -}}
{{- range $at, $mount := $values.extraVolumeMounts -}}
{{- if not (has $mount.name $volumes) -}}
{{- fail (printf "%s.extraVolumeMounts[%d].name: there is no volume %q: add it to %s.extraVolumes" $key $at $mount.name $key) -}}
{{- end -}}
{{- if has (trimSuffix "/" $mount.mountPath) $paths -}}
{{- fail (printf "%s.extraVolumeMounts[%d].mountPath: %q is mounted already: use another path" $key $at $mount.mountPath) -}}
{{- end -}}
{{- $paths = append $paths (trimSuffix "/" $mount.mountPath) -}}
{{- end -}}
{{- $names := list "tranche" -}}
{{- range $list := list "initContainers" "extraContainers" -}}
{{- range $at, $container := index $values $list -}}
{{- if has $container.name $names -}}
{{- fail (printf "%s.%s[%d].name: another container of the pod is called %q: use another name" $key $list $at $container.name) -}}
{{- end -}}
{{- $names = append $names $container.name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Rejects settings of pods, Deployments and scrapes that contradict each other. */}}
{{- define "tranche.checkSettings" -}}
{{- $pods := .Values.pods -}}
{{- if and (eq $pods.dnsPolicy "None") (not (default dict $pods.dnsConfig).nameservers) -}}
{{- fail "pods.dnsConfig.nameservers: is required with pods.dnsPolicy: None, without which pods resolve no name: set it to the addresses of the DNS servers" -}}
{{- end -}}
{{- range $component, $key := include "tranche.components" . | fromYaml -}}
{{- $own := (index $.Values $key).rollingUpdate -}}
{{- if and (has (toString $own.maxSurge) (list "0" "0%")) (has (toString $own.maxUnavailable) (list "0" "0%")) -}}
{{- fail (printf "%s.rollingUpdate: maxSurge and maxUnavailable are both 0, so that no pod could be replaced: set one of them to 1" $key) -}}
{{- end -}}
{{- end -}}
{{- $scrape := .Values.metrics.serviceMonitor -}}
{{- if and $scrape.scrapeTimeout (gt (include "tranche.milliseconds" $scrape.scrapeTimeout | int64) (include "tranche.milliseconds" $scrape.interval | int64)) -}}
{{- fail (printf "metrics.serviceMonitor.scrapeTimeout: %s is longer than metrics.serviceMonitor.interval, %s: use at most that" $scrape.scrapeTimeout $scrape.interval) -}}
{{- end -}}
{{- range $key := list "helm.sh/resource-policy" "tranche.dev/allow-delete" -}}
{{- if hasKey (default dict $.Values.crds.annotations) $key -}}
{{- fail (printf "crds.annotations: %s would undo what crds.%s sets: set crds.%s" $key (ternary "protect" "keep" (eq $key "tranche.dev/allow-delete")) (ternary "protect" "keep" (eq $key "tranche.dev/allow-delete"))) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Milliseconds of a duration with one unit, such as 30s. */}}
{{- define "tranche.milliseconds" -}}
{{- mul (regexFind "^[0-9]+" .) (index (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000) (regexFind "[a-z]+$" .)) -}}
{{- end -}}

{{/* Rejects labels that the chart sets itself: a duplicate would override the label by which objects are selected. */}}
{{- define "tranche.checkLabels" -}}
{{- range $path := list "commonLabels" "allInOne.podLabels" "controller.podLabels" "executor.podLabels" "api.podLabels" "allInOne.deploymentLabels" "controller.deploymentLabels" "executor.deploymentLabels" "api.deploymentLabels" "service.labels" "api.service.labels" "metrics.serviceMonitor.labels" "metrics.prometheusRule.labels" "metrics.dashboard.labels" -}}
{{- range $label := (include "tranche.valueAt" (dict "values" $.Values "path" $path) | fromYaml).value | default dict | keys | sortAlpha -}}
{{- if regexMatch "^(helm\\.sh/chart|app\\.kubernetes\\.io/(name|instance|component|version|part-of|managed-by)|tranche\\.dev/endpoint)$" $label -}}
{{- fail (printf "%s: %s is set by the chart, to select objects and pods: remove it, or use another name" $path $label) -}}
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
{{- $fix := "remove it" -}}
{{- if eq $own.name "NODE_OPTIONS" }}{{ $fix = printf "set %s.nodeOptions" $key }}{{ end -}}
{{- if hasPrefix "OTEL_" $own.name }}{{ $fix = "set it in tracing" }}{{ end -}}
{{- if eq $own.name "NODE_EXTRA_CA_CERTS" }}{{ $fix = "set trustedCAs" }}{{ end -}}
{{- if hasPrefix "TRANCHE_REDIS_" $own.name }}{{ $fix = "set it in redis" }}{{ end -}}
{{- fail (printf "%s.extraEnv[%d]: %s is already set by the chart: %s" $key $at $own.name $fix) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
