{{/* Command line of a component: { root, component, values }. */}}
{{- define "tranche.args" -}}
{{- $root := .root -}}
- {{ .component | quote }}
- "--log-level={{ $root.Values.logLevel }}"
{{- if ne .component "api" }}
- "--health-host={{ $root.Values.listenHost }}"
- "--health-port=8081"
{{- if $root.Values.metrics.enabled }}
- "--metrics-host={{ $root.Values.listenHost }}"
- "--metrics-port=8082"
{{- end }}
{{- end }}
{{- range $root.Values.scope.namespaces }}
- {{ printf "--watch-namespace=%v" . | quote }}
{{- end }}
{{- if has .component (list "controller" "all-in-one") }}
- "--admission={{ $root.Values.admission }}"
{{- if include "tranche.servesWebhook" . }}
- "--webhook-host={{ $root.Values.listenHost }}"
- "--webhook-port=9443"
{{- if $root.Values.webhook.certManager.enabled }}
- "--webhook-cert-file=/etc/tranche/webhook/tls.crt"
- "--webhook-key-file=/etc/tranche/webhook/tls.key"
{{- else }}
- "--webhook-secret={{ $root.Release.Namespace }}/{{ include "tranche.webhookSecret" $root }}"
- "--webhook-service={{ $root.Release.Namespace }}/{{ include "tranche.webhookName" $root }}"
- {{ printf "--webhook-configuration=%v" (include "tranche.fullname" $root) | quote }}
{{- end }}
{{- end }}
{{- range $root.Values.allowHosts }}
- {{ printf "--allow-host=%v" . | quote }}
{{- end }}
{{- if $root.Values.rbac.config }}
- "--read-config"
{{- end }}
{{- if $root.Values.rbac.groups }}
- {{ printf "--group-namespace=%v" $root.Release.Namespace | quote }}
{{- range $root.Values.rbac.sharedGroupNamespaces }}
- {{ printf "--shared-group-namespace=%v" . | quote }}
{{- end }}
{{- end }}
{{- if $root.Values.rbac.configPin }}
- "--pin-config"
- "--pod-policy={{ include "tranche.fullname" $root }}-pods"
{{- range $root.Values.rbac.pinSecretNamespaces }}
- {{ printf "--pin-secret-namespace=%s" . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (ne .component "executor") (or $root.Values.leaseNamespace $root.Values.scope.namespaces) }}
- {{ printf "--lease-namespace=%v" (include "tranche.leaseNamespace" $root) | quote }}
{{- end }}
{{- if has .component (list "executor" "all-in-one") }}
- {{ printf "--workers=%v" .values.workers | quote }}
{{- end }}
{{- if ne .component "api" }}
{{- range $root.Values.rbac.drain.namespaces }}
- {{ printf "--drain-namespace=%s" . | quote }}
{{- end }}
{{- range $root.Values.rbac.nodeLocks.namespaces }}
- {{ printf "--lock-namespace=%s" . | quote }}
{{- end }}
{{- if $root.Values.rbac.downtime }}
- {{ printf "--downtime-namespace=%v" $root.Release.Namespace | quote }}
{{- end }}
{{- end }}
{{- if has .component (list "executor" "all-in-one") }}
{{- if and $root.Values.rbac.drain.namespaces $root.Values.rbac.drain.conditions }}
- "--drain-conditions"
{{- end }}
{{- with $root.Values.rbac.nodeLocks }}
{{- if .namespaces }}
- {{ printf "--lock-lease-namespace=%v" .leaseNamespace | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (ne .component "api") $root.Values.rbac.room }}
- "--room"
{{- end }}
{{- if and (ne .component "api") $root.Values.rbac.prePull }}
- "--pre-pull"
{{- end }}
{{- if has .component (list "controller" "executor") }}
{{- include "tranche.redisArgs" $root }}
{{- end }}
{{- if include "tranche.servesApi" . }}
- "--host={{ $root.Values.listenHost }}"
{{- include "tranche.apiArgs" $root.Values.api }}
{{- end }}
{{- range .values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "tranche.redisArgs" }}
{{- with .Values.redis.url }}
- {{ printf "--redis=%v" . | quote }}
{{- end }}
{{- if include "tranche.redisPasswordFile" . }}
- "--redis-password-file=/etc/tranche/redis/{{ .Values.redis.secret.passwordKey }}"
{{- end }}
{{- if .Values.redis.ca.configMap }}
- "--redis-ca=/etc/tranche/redis-ca/{{ .Values.redis.ca.key }}"
{{- end }}
{{- with .Values.redis.prefix }}
- {{ printf "--redis-prefix=%v" . | quote }}
{{- end }}
{{- end -}}

{{- define "tranche.servesApi" -}}
{{- if and .root.Values.api.enabled (has .component (list "api" "all-in-one")) -}}true{{- end -}}
{{- end -}}

{{- define "tranche.redisPasswordFile" -}}
{{- with .Values.redis.secret -}}{{- if and .name .passwordKey (not .urlKey) -}}true{{- end -}}{{- end -}}
{{- end -}}

{{- define "tranche.apiArgs" }}
- "--api-port=8080"
- {{ printf "--requests-per-second=%v" (int .requestsPerSecond) | quote }}
{{- if .tls.secret }}
- "--tls-cert-file=/etc/tranche/tls/tls.crt"
- "--tls-key-file=/etc/tranche/tls/tls.key"
{{- end }}
{{- range .audiences }}
- {{ printf "--audience=%v" . | quote }}
{{- end }}
{{- range .corsOrigins }}
- {{ printf "--cors-origin=%v" . | quote }}
{{- end }}
{{- range .trustProxies }}
- {{ printf "--trust-proxy=%v" . | quote }}
{{- end }}
{{- if .hooks.enabled }}
- "--hooks"
{{- end }}
{{- with .login }}
{{- if .issuer }}
- {{ printf "--oidc-issuer=%v" .issuer | quote }}
- {{ printf "--oidc-client-id=%v" .clientId | quote }}
{{- if .secret.clientSecretKey }}
- "--oidc-client-secret-file=/etc/tranche/login/{{ .secret.clientSecretKey }}"
{{- end }}
{{- with .usernameClaim }}
- {{ printf "--oidc-username-claim=%v" . | quote }}
{{- end }}
{{- with .usernamePrefix }}
- {{ printf "--oidc-username-prefix=%v" . | quote }}
{{- end }}
{{- with .groupsClaim }}
- {{ printf "--oidc-groups-claim=%v" . | quote }}
{{- end }}
{{- with .groupsPrefix }}
- {{ printf "--oidc-groups-prefix=%v" . | quote }}
{{- end }}
- {{ printf "--external-url=%v" .externalUrl | quote }}
- "--session-key-file=/etc/tranche/login/{{ .secret.sessionKeyKey }}"
{{- end }}
{{- end }}
{{- end -}}

{{/* Environment of a component: { root, component, values }. */}}
{{- define "tranche.env" -}}
{{- with .values.nodeOptions }}
- name: NODE_OPTIONS
  value: {{ . | quote }}
{{- end }}
{{- /* One arena: memory that one thread frees is available to all threads. */}}
- name: MALLOC_ARENA_MAX
  value: "1"
{{- if has .component (list "controller" "executor") }}
{{- with .root.Values.redis.secret }}
{{- if .urlKey }}
- name: TRANCHE_REDIS_URL
  valueFrom:
    secretKeyRef: { name: "{{ .name }}", key: "{{ .urlKey }}" }
{{- end }}
{{- if .sentinelPasswordKey }}
- name: TRANCHE_REDIS_SENTINEL_PASSWORD
  valueFrom:
    secretKeyRef: { name: "{{ .name }}", key: "{{ .sentinelPasswordKey }}" }
{{- end }}
{{- end }}
{{- end }}
{{- if or .root.Values.trustedCAs.configMap .root.Values.trustedCAs.secret }}
- name: NODE_EXTRA_CA_CERTS
  value: "/etc/tranche/trusted-cas/{{ .root.Values.trustedCAs.key }}"
{{- end }}
{{- if .root.Values.tracing.endpoint }}
{{- include "tranche.tracingEnv" . }}
{{- end }}
{{- with .values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* OpenTelemetry variables: { root, component }. */}}
{{- define "tranche.tracingEnv" -}}
{{- $scope := . -}}
{{- with .root.Values.tracing }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
- name: OTEL_EXPORTER_OTLP_PROTOCOL
  value: "{{ .protocol }}"
- name: OTEL_SERVICE_NAME
  value: "{{ include "tranche.componentName" $scope }}"
- name: OTEL_TRACES_SAMPLER
  value: "{{ .sampler }}"
{{- with .samplerArg }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ . | quote }}
{{- end }}
{{- with .resourceAttributes }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ include "tranche.pairs" . | quote }}
{{- end }}
{{- with .headersSecret }}
{{- if .name }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef: { name: "{{ .name }}", key: "{{ .key }}" }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Joins a map to `a=1,b=2`. */}}
{{- define "tranche.pairs" -}}
{{- $pairs := list -}}
{{- range $key, $value := . }}{{- $pairs = append $pairs (printf "%s=%s" $key $value) -}}{{- end -}}
{{- join "," $pairs -}}
{{- end -}}

{{/* Files mounted into a component, as YAML: [{ name, path, source }]. */}}
{{- define "tranche.files" -}}
{{- $root := .root -}}
{{- with $root.Values.trustedCAs.configMap }}
- name: trusted-cas
  path: /etc/tranche/trusted-cas
  source:
    configMap:
      name: "{{ . }}"
{{- end }}
{{- with $root.Values.trustedCAs.secret }}
- name: trusted-cas
  path: /etc/tranche/trusted-cas
  source:
    secret:
      secretName: "{{ . }}"
      defaultMode: 0440
      items:
        - key: "{{ $root.Values.trustedCAs.key }}"
          path: "{{ $root.Values.trustedCAs.key }}"
{{- end }}
{{- if has .component (list "controller" "executor") }}
{{- if include "tranche.redisPasswordFile" $root }}
- name: redis
  path: /etc/tranche/redis
  source:
    secret:
      secretName: "{{ $root.Values.redis.secret.name }}"
      defaultMode: 0440
      items:
        - key: "{{ $root.Values.redis.secret.passwordKey }}"
          path: "{{ $root.Values.redis.secret.passwordKey }}"
{{- end }}
{{- if $root.Values.redis.ca.configMap }}
- name: redis-ca
  path: /etc/tranche/redis-ca
  source:
    configMap:
      name: "{{ $root.Values.redis.ca.configMap }}"
{{- end }}
{{- end }}
{{- if and (include "tranche.servesWebhook" .) $root.Values.webhook.certManager.enabled }}
- name: webhook
  path: /etc/tranche/webhook
  source:
    secret:
      secretName: "{{ include "tranche.webhookSecret" $root }}"
      defaultMode: 0440
{{- end }}
{{- if include "tranche.servesApi" . }}
{{- with $root.Values.api.tls.secret }}
- name: tls
  path: /etc/tranche/tls
  source:
    secret:
      secretName: "{{ . }}"
      defaultMode: 0440
{{- end }}
{{- with $root.Values.api.login }}
{{- if .issuer }}
- name: login
  path: /etc/tranche/login
  source:
    secret:
      secretName: "{{ .secret.name }}"
      defaultMode: 0440
      items:
        - key: "{{ .secret.sessionKeyKey }}"
          path: "{{ .secret.sessionKeyKey }}"
        {{- if .secret.clientSecretKey }}
        - key: "{{ .secret.clientSecretKey }}"
          path: "{{ .secret.clientSecretKey }}"
        {{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Settings of every pod: security context, pull secrets, DNS and RuntimeClass. */}}
{{- define "tranche.podSettings" -}}
securityContext: {{- include "tranche.podSecurity" . | nindent 2 }}
{{- with include "tranche.pullSecrets" . }}
imagePullSecrets: {{- . | nindent 2 }}
{{- end }}
{{- with .Values.pods }}
{{- with .runtimeClassName }}
runtimeClassName: "{{ . }}"
{{- end }}
{{- if not .hostUsers }}
hostUsers: false
{{- end }}
{{- with .dnsPolicy }}
dnsPolicy: "{{ . }}"
{{- end }}
{{- with .dnsConfig }}
dnsConfig: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .hostAliases }}
hostAliases: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Timing of a probe, in the order of its use. A delay of 0 is Kubernetes' default. */}}
{{- define "tranche.probeTiming" -}}
{{- /* Helm 3 reads numbers as text, and no text but the empty one is false. */}}
{{- if gt (int .initialDelaySeconds) 0 }}
initialDelaySeconds: {{ int .initialDelaySeconds }}
{{- end }}
periodSeconds: {{ int .periodSeconds }}
timeoutSeconds: {{ int .timeoutSeconds }}
failureThreshold: {{ int .failureThreshold }}
{{- end -}}

{{/* Security context of the Pod Security Standard `restricted`. Ids of OpenShift have ten digits, which Go prints as 1e+09 without `int64`. */}}
{{- define "tranche.podSecurity" -}}
{{- $own := default dict .Values.pods.securityContext -}}
runAsNonRoot: true
{{- if not (kindIs "invalid" .Values.runAsUser) }}
runAsUser: {{ int64 .Values.runAsUser }}
{{- end }}
{{- if not (kindIs "invalid" .Values.runAsGroup) }}
runAsGroup: {{ int64 .Values.runAsGroup }}
{{- if not $own.fsGroup }}
fsGroup: {{ int64 .Values.runAsGroup }}
{{- end }}
{{- end }}
{{- if not $own.seccompProfile }}
seccompProfile:
  type: RuntimeDefault
{{- end }}
{{- with $own }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "tranche.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Containers of the values, as YAML. One without a securityContext gets that of the chart: { root, containers }. */}}
{{- define "tranche.extraContainers" -}}
{{- range .containers }}
{{- $default := dict "securityContext" (include "tranche.containerSecurity" $.root | fromYaml) }}
- {{- ternary . (merge $default .) (hasKey . "securityContext") | toYaml | nindent 2 }}
{{- end }}
{{- end -}}

{{/* { root, component } */}}
{{- define "tranche.spread" -}}
{{- range list (list "kubernetes.io/hostname" "ScheduleAnyway") (list "topology.kubernetes.io/zone" "ScheduleAnyway") }}
- maxSkew: 1
  topologyKey: "{{ index . 0 }}"
  whenUnsatisfiable: "{{ index . 1 }}"
  labelSelector:
    matchLabels: {{- include "tranche.selector" $ | nindent 6 }}
{{- end }}
{{- end -}}
