import type { Values } from './chart.ts'

const probe = { matchLabels: { app: 'prometheus' } }

/** Values that people may choose, by name; each must be rendered, and taken by an API server. */
export const choices: Readonly<Record<string, Values>> = {
  'all-in-one': {},
  distributed: { mode: 'distributed', redis: { url: 'redis://redis.storage:6379' } },
  'every option': {
    mode: 'distributed',
    fullnameOverride: 'rollouts',
    commonLabels: { team: 'platform' },
    logLevel: 'debug',
    admission: 'policy',
    image: { registry: 'images.example:5000', digest: `sha256:${'0'.repeat(64)}`, pullSecrets: [{ name: 'pull' }] },
    allowHosts: ['prometheus.monitoring:9090', '*.example.com', '[fd00::7]:8443'],
    redis: {
      url: 'rediss+sentinel://tranche@sentinel-0:26379,sentinel-1:26380/main',
      prefix: 'team-a',
      secret: { name: 'redis', sentinelPasswordKey: 'sentinels' },
      ca: { configMap: 'redis-ca' },
    },
    controller: {
      replicas: 3,
      extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca.crt' }],
      serviceAccount: { create: false, name: 'given' },
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'infra', operator: 'Exists' }],
      priorityClassName: 'system-cluster-critical',
      podAnnotations: { note: 'a' },
      podLabels: { tier: 'control' },
    },
    executor: { replicas: 3, workers: 8, topologySpreadConstraints: [] },
    api: {
      replicas: 3,
      service: { type: 'LoadBalancer', port: 8443, annotations: { internal: 'true' } },
      audiences: ['tranche'],
      corsOrigins: ['https://tools.example.com'],
      trustProxies: ['10.0.0.0/8'],
      requestsPerSecond: 50,
      hooks: { enabled: true, secrets: [{ namespace: 'demo', names: ['ci'] }] },
      login: {
        issuer: 'https://issuer.example.com',
        clientId: 'tranche',
        externalUrl: 'https://tranche.example.com',
        usernameClaim: 'email',
        groupsClaim: 'groups',
        secret: { name: 'login' },
      },
      ingress: { enabled: true, className: 'nginx', host: 'tranche.example.com', tlsSecret: 'tls' },
    },
    rbac: { policySecrets: [{ namespace: 'monitoring-agents', names: ['prometheus', 'slack'] }] },
    networkPolicy: {
      apiFrom: [{ namespaceSelector: probe }],
      metricsFrom: [{ namespaceSelector: probe }],
      extraEgress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
    },
    metrics: {
      reader: { namespace: 'monitoring', name: 'prometheus' },
      serviceMonitor: {
        enabled: true,
        labels: { release: 'prometheus' },
        authorization: { credentials: { name: 'scrape', key: 'token' } },
      },
      prometheusRule: { enabled: true },
      dashboard: { enabled: true },
    },
  },
  'the whole URL of Redis in a Secret': { mode: 'distributed', redis: { secret: { name: 'redis', urlKey: 'url' } } },
  'without the REST API': { mode: 'distributed', redis: { url: 'redis://redis' }, api: { enabled: false } },
  'nothing but processes': {
    api: { enabled: false },
    crds: { install: false },
    rbac: { create: false, userRoles: false },
    networkPolicy: { enabled: false },
    metrics: { enabled: false },
    podDisruptionBudget: { enabled: false },
    runAsUser: null,
    runAsGroup: null,
  },
  'watched by Prometheus': { metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } } },
  'two of the one process': { allInOne: { replicas: 2 }, allowHosts: ['prometheus.monitoring'] },
}
