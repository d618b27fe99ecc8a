import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { chartValues } from '../../scripts/reference/chart-values.ts'
import { chart, helm, programs, renderText, type Values } from './chart.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly items?: Schema
  readonly definitions?: Readonly<Record<string, Schema>>
  readonly $ref?: string
}

const schema = JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8')) as Schema
const defaults = parse(readFileSync(`${chart}/values.yaml`, 'utf8')) as object
/** Parts that the schema does not check, because Kubernetes and the Prometheus operator check them. */
const handedOn = /^(global|metrics\.serviceMonitor\.authorization|\w+\.affinity|extraEnv\.valueFrom|variable\.valueFrom)$/

/** The values that login with a browser requires. */
const login = { issuer: 'https://i.example', clientId: 'a', externalUrl: 'https://a.example', secret: { name: 'login' } }

describe.skipIf(programs === null)('invalid values', () => {
  it.each([
    [{ controler: { replicas: 3 } }, "at '': additional properties 'controler' not allowed"],
    [{ controller: { replicas: 'two' } }, "at '/controller/replicas': got string, want integer"],
    [{ controller: { replicas: 0 } }, "at '/controller/replicas': minimum: got 0, want 1"],
    [{ executor: { worker: 3 } }, "at '/executor': additional properties 'worker' not allowed"],
    [{ mode: 'ha' }, "at '/mode': value must be one of 'all-in-one', 'distributed'"],
    [{ image: { tag: 'a tag' } }, "at '/image/tag': 'a tag' does not match pattern"],
    [{ api: { service: { type: 'ExternalName' } } }, "at '/api/service/type': value must be one of"],
    [{ api: { hooks: { secrets: [{ namespace: 'demo' }] } } }, "at '/api/hooks/secrets/0': missing property 'names'"],
    [{ tracing: { endpoint: 'collector:4318' } }, "at '/tracing/endpoint': 'collector:4318' does not match pattern"],
    [{ api: { audiences: ['a', 'b\n- --evil'] } }, "at '/api/audiences/1': 'b\\n- --evil' does not match pattern"],
    [{ api: { corsOrigins: ['https://a\u0001'] } }, "at '/api/corsOrigins/0': 'https://a\\x01' does not match pattern"],
    [{ api: { login: { ...login, issuer: 'https://i.example/\u0007' } } }, "at '/api/login/issuer': 'https://i.example/"],
    [{ api: { login: { ...login, clientId: 'a\tb' } } }, "at '/api/login/clientId': 'a\\tb' does not match pattern"],
    [{ api: { login: { ...login, usernameClaim: 'a\n' } } }, "at '/api/login/usernameClaim': 'a\\n' does not match pattern"],
    [{ api: { login: { ...login, usernamePrefix: 'a\r' } } }, "at '/api/login/usernamePrefix': 'a\\r' does not match pattern"],
    [{ api: { login: { ...login, groupsClaim: '\n' } } }, "at '/api/login/groupsClaim': '\\n' does not match pattern"],
    [{ api: { login: { ...login, groupsPrefix: '\u001b' } } }, "at '/api/login/groupsPrefix': '"],
    [{ allInOne: { extraArgs: ['--identity=a\n--evil'] } }, "at '/allInOne/extraArgs/0': '--identity=a\\n--evil' does not match pattern"],
    [{ tracing: { samplerArg: '10%' } }, "at '/tracing/samplerArg': '10%' does not match pattern"],
    [{ allowHosts: ['https://prometheus'] }, "at '/allowHosts/0': 'https://prometheus' does not match pattern"],
    [{ metrics: { reader: { name: 'prometheus' } } }, "at '/metrics/reader': properties 'namespace' required, if 'name' exists"],
    [{ allInOne: { resources: { limits: { memory: 'much' } } } }, "at '/allInOne/resources/limits/memory'"],
    [{ scope: { namespaces: ['a', 'a'] } }, "at '/scope/namespaces': items at 0 and 1 are equal"],
    [{ executor: { nodeOptions: ['--max-semi-space-size=8'] } }, "at '/executor/nodeOptions': got array, want string"],
    [{ scope: { namespaces: 'agents' } }, "at '/scope/namespaces': got string, want array"],
    [{ runAsUser: 0 }, "at '/runAsUser': minimum: got 0, want 1"],
    [{ redis: null }, "at '': missing property 'redis'"],
    [{ api: { ingress: null } }, "at '/api': missing property 'ingress'"],
    [{ executor: { serviceAccount: null } }, "at '/executor': missing property 'serviceAccount'"],
    [{ fullnameOverride: 'a.b' }, "at '/fullnameOverride': 'a.b' does not match pattern"],
    [{ nameOverride: 'n'.repeat(41) }, "at '/nameOverride'"],
    [{ image: { registry: 'https://registry.example' } }, "at '/image/registry': 'https://registry.example' does not match pattern"],
    [{ image: { registry: 'registry.example:99999' } }, "at '/image/registry'"],
    [{ allowHosts: ['prometheus:99999'] }, "at '/allowHosts/0': 'prometheus:99999' does not match pattern"],
    [{ tracing: { endpoint: 'http://collector:99999' } }, "at '/tracing/endpoint'"],
    [{ api: { login: { ...login, issuer: 'https://i.example:70000' } } }, "at '/api/login/issuer'"],
    [{ networkPolicy: { apiServerPorts: [] } }, "at '/networkPolicy/apiServerPorts': minItems: got 0, want 1"],
    [{ executor: { extraContainers: [{ name: 'proxy' }] } }, "at '/executor/extraContainers/0': missing property 'image'"],
    [{ allInOne: { initContainers: [{ name: 'A', image: 'a' }] } }, "at '/allInOne/initContainers/0/name': 'A' does not match pattern"],
    [{ extraObjects: [{ kind: 'ConfigMap' }] }, "at '/extraObjects/0': missing properties 'apiVersion', 'metadata'"],
    [{ extraObjects: { kind: 'ConfigMap' } }, "at '/extraObjects': got object, want array"],
    [{ service: { ipFamilyPolicy: 'DualStack' } }, "at '/service/ipFamilyPolicy': value must be one of '', 'SingleStack'"],
    [{ service: { ipFamilies: ['ipv6'] } }, "at '/service/ipFamilies/0': value must be one of 'IPv4', 'IPv6'"],
    [{ service: { ipFamilies: ['IPv6', 'IPv6'] } }, "at '/service/ipFamilies': items at 0 and 1 are equal"],
    [{ listenHost: 'localhost' }, "at '/listenHost': value must be one of '0.0.0.0', '::'"],
    [{ pods: null }, "at '': missing property 'pods'"],
    [{ pods: { terminationGracePeriodSeconds: null } }, "at '/pods': missing property 'terminationGracePeriodSeconds'"],
    [{ allInOne: { rollingUpdate: { maxSurge: null } } }, "at '/allInOne/rollingUpdate': missing property 'maxSurge'"],
    [{ pods: { dnsPolicy: 'ClusterFirstWithHostNet' } }, "at '/pods/dnsPolicy': value must be one of '', 'Default'"],
    [{ pods: { dnsConfig: { nameservers: ['dns.example.com'] } } }, "at '/pods/dnsConfig/nameservers/0': 'dns.example.com' does not match"],
    [{ pods: { hostAliases: [{ ip: '10.0.0.7' }] } }, "at '/pods/hostAliases/0': missing property 'hostnames'"],
    [{ pods: { securityContext: { runAsUser: 1000 } } }, "at '/pods/securityContext': additional properties 'runAsUser' not allowed"],
    [{ pods: { securityContext: { runAsNonRoot: false } } }, "additional properties 'runAsNonRoot' not allowed"],
    [{ pods: { securityContext: { seccompProfile: { type: 'Unconfined' } } } }, "at '/pods/securityContext/seccompProfile"],
    [{ pods: { securityContext: { appArmorProfile: { type: 'Localhost' } } } }, "missing property 'localhostProfile'"],
    [{ pods: { securityContext: { fsGroup: 0 } } }, "at '/pods/securityContext/fsGroup': minimum: got 0, want 1"],
    [{ pods: { terminationGracePeriodSeconds: 5 } }, "at '/pods/terminationGracePeriodSeconds': minimum: got 5, want 15"],
    [{ pods: { livenessProbe: { httpGet: {} } } }, "at '/pods/livenessProbe': additional properties 'httpGet' not allowed"],
    [{ allInOne: { rollingUpdate: { maxSurge: '120%' } } }, "at '/allInOne/rollingUpdate/maxSurge'"],
    [{ allInOne: { deploymentAnnotations: { reload: true } } }, "at '/allInOne/deploymentAnnotations/reload': got boolean, want string"],
    [{ api: { service: { loadBalancerSourceRanges: ['10.0.0.0'] } } }, "at '/api/service/loadBalancerSourceRanges/0'"],
    [{ api: { service: { nodePort: 70_000 } } }, "at '/api/service/nodePort': maximum"],
    [{ metrics: { serviceMonitor: { scrapeTimeout: '10' } } }, "at '/metrics/serviceMonitor/scrapeTimeout': '10' does not match pattern"],
    [
      { global: { imageRegistry: 'https://mirror.example' } },
      "at '/global/imageRegistry': 'https://mirror.example' does not match pattern",
    ],
    [{ global: { imagePullSecrets: [{ secret: 'mirror' }] } }, "at '/global/imagePullSecrets/0'"],
  ])('%j are rejected with their path', async (values, message) => {
    await expect(renderText(values)).rejects.toThrow(message)
  })

  it.each([
    [{ mode: 'distributed' }, 'redis.url: mode distributed needs Redis: set redis.url'],
    [{ redis: { url: 'redis://redis' } }, 'redis.url: mode all-in-one uses no Redis: set mode: distributed'],
    [{ mode: 'distributed', redis: { url: 'redis://redis/\u0001' } }, 'redis.url: "redis://redis/\\x01" is not a Redis URL'],
    [{ mode: 'distributed', redis: { url: 'http://redis' } }, 'redis.url: "http://redis" is not a Redis URL: use redis://HOST:6379'],
    [{ mode: 'distributed', redis: { url: 'redis://redis', secret: { urlKey: 'url' } } }, 'redis.secret.urlKey: redis.url is set too'],
    [{ mode: 'distributed', redis: { secret: { urlKey: 'url' } } }, 'redis.secret.name: is required'],
    [{ mode: 'distributed', redis: { url: 'redis://r', ca: { configMap: 'ca' } } }, 'redis.ca.configMap: redis.url is without TLS'],
    [{ api: { login: { issuer: 'https://i.example' } } }, 'api.login.clientId: is required with api.login.issuer'],
    [{ api: { ingress: { enabled: true } } }, 'api.ingress.host: is required with api.ingress.enabled'],
    [{ api: { httpRoute: { enabled: true } } }, 'api.httpRoute.parentRefs: is required with api.httpRoute.enabled'],
    [{ api: { httpRoute: null } }, "at '/api': missing property 'httpRoute'"],
    [{ api: { httpRoute: { parentRefs: [{ namespace: 'gateways' }] } } }, "at '/api/httpRoute/parentRefs/0': missing property 'name'"],
    [{ api: { httpRoute: { hostnames: ['https://tranche.example.com'] } } }, "at '/api/httpRoute/hostnames/0'"],
    [{ api: { httpRoute: { requestTimeout: '1 hour' } } }, "at '/api/httpRoute/requestTimeout'"],
    [
      { mode: 'distributed', redis: { url: 'redis://redis:99999' } },
      'redis.url: "redis://redis:99999" has port 99999: use a port from 1 to 65535',
    ],
    [
      { allInOne: { extraVolumes: [{ name: 'tmp', emptyDir: {} }] } },
      'allInOne.extraVolumes[0].name: "tmp" is the name of a volume of the chart',
    ],
    [
      { allInOne: { extraVolumeMounts: [{ name: 'more', mountPath: '/etc/more' }] } },
      'allInOne.extraVolumeMounts[0].name: there is no volume "more": add it to allInOne.extraVolumes',
    ],
    [
      { allInOne: { extraVolumeMounts: [{ name: 'tmp', mountPath: '/tmp/' }] } },
      'allInOne.extraVolumeMounts[0].mountPath: "/tmp/" is mounted already: use another path',
    ],
    [
      { allInOne: { extraContainers: [{ name: 'tranche', image: 'a' }] } },
      'allInOne.extraContainers[0].name: another container of the pod is called "tranche": use another name',
    ],
    [
      { allInOne: { initContainers: [{ name: 'a', image: 'a' }], extraContainers: [{ name: 'a', image: 'a' }] } },
      'allInOne.extraContainers[0].name: another container of the pod is called "a"',
    ],
    [{ trustedCAs: { configMap: 'a', secret: 'b' } }, 'trustedCAs.secret: trustedCAs.configMap is set too: remove one of them'],
    [
      { service: { ipFamilies: ['IPv6', 'IPv4'] }, listenHost: '::' },
      'service.ipFamilyPolicy: "SingleStack" has room for one of service.ipFamilies: set PreferDualStack or RequireDualStack',
    ],
    [{ service: { ipFamilies: ['IPv6'] } }, 'listenHost: pods do not listen on IPv6 with "0.0.0.0", and service.ipFamilies'],
    [{ service: { ipFamilyPolicy: 'PreferDualStack' } }, 'and service.ipFamilyPolicy sends connections there: set listenHost: "::"'],
    [{ pods: { dnsPolicy: 'None' } }, 'pods.dnsConfig.nameservers: is required with pods.dnsPolicy: None'],
    [
      { allInOne: { rollingUpdate: { maxSurge: '0%' } } },
      'allInOne.rollingUpdate: maxSurge and maxUnavailable are both 0, so that no pod could be replaced: set one of them to 1',
    ],
    [
      { metrics: { serviceMonitor: { enabled: true, interval: '500ms', scrapeTimeout: '1s' } } },
      'metrics.serviceMonitor.scrapeTimeout: 1s is longer than metrics.serviceMonitor.interval, 500ms: use at most that',
    ],
    [
      { crds: { annotations: { 'helm.sh/resource-policy': 'keep' } } },
      'crds.annotations: helm.sh/resource-policy would undo what crds.keep sets: set crds.keep',
    ],
    [{ crds: { annotations: { 'tranche.dev/allow-delete': 'true' } } }, 'would undo what crds.protect sets: set crds.protect'],
    [{ extraObjects: ['kind: ConfigMap'] }, 'extraObjects[0]: has no apiVersion: write one object in YAML'],
    [{ extraObjects: ['- a'] }, 'extraObjects[0]: is no object'],
    [
      { nameOverride: 'n'.repeat(38) },
      `fullnameOverride: the names of objects would begin with "tranche-${'n'.repeat(38)}", which is longer`,
    ],
    [
      { api: { enabled: false }, metrics: { enabled: false, serviceMonitor: { enabled: true } } },
      'metrics.serviceMonitor.enabled: no process',
    ],
  ])('%j are rejected with the fix', async (values, message) => {
    await expect(renderText(values)).rejects.toThrow(message)
  })

  it.each<[string, Values, Readonly<Record<string, string>>]>([
    [
      'in one process',
      {
        allInOne: { serviceAccount: { create: false, annotations: { team: 'platform' } } },
        controller: { replicas: 3, resources: { limits: { cpu: '1' } } },
        crds: { install: false, keep: false, annotations: { a: 'b' } },
        executor: { podLabels: { tier: 'control' } },
        redis: { prefix: 'team-a', secret: { name: 'redis' } },
        api: {
          replicas: 3,
          rollingUpdate: { maxSurge: 2 },
          service: { nodePort: 30_080, externalTrafficPolicy: 'Local', loadBalancerSourceRanges: ['10.0.0.0/8'] },
          topologySpreadConstraints: [],
          hooks: { secrets: [{ namespace: 'demo', names: ['ci'] }] },
          login: { clientId: 'a' },
          ingress: { host: 'a' },
          httpRoute: { hostnames: ['a'] },
        },
        webhook: { certManager: { issuerRef: { name: 'internal' } } },
        metrics: { serviceMonitor: { interval: '10s' }, prometheusRule: { labels: { a: 'b' } }, dashboard: { labels: { a: 'b' } } },
        networkPolicy: { redisPorts: [6380] },
        tracing: { samplerArg: '0.1', headersSecret: { name: 'collector' } },
        trustedCAs: { key: 'a.crt' },
      },
      {
        'allInOne.serviceAccount.annotations': 'it does nothing: annotate the account, or set allInOne.serviceAccount.create: true',
        'api.hooks.secrets': 'it does nothing: set api.hooks.enabled: true',
        'api.httpRoute.hostnames': 'it does nothing: set api.httpRoute.enabled: true',
        'api.ingress.host': '"a" does nothing: set api.ingress.enabled: true',
        'api.login.clientId': '"a" does nothing: set api.login.issuer',
        'api.rollingUpdate.maxSurge': '2 does nothing: set it below allInOne, or set mode: distributed',
        'api.service.externalTrafficPolicy': '"Local" does nothing: set api.service.type: LoadBalancer or NodePort',
        'api.service.loadBalancerSourceRanges': 'it does nothing: set api.service.type: LoadBalancer',
        'api.service.nodePort': '30080 does nothing: set api.service.type: LoadBalancer or NodePort',
        'api.replicas': '3 does nothing: set it below allInOne, or set mode: distributed',
        'api.topologySpreadConstraints': 'it does nothing: set it below allInOne, or set mode: distributed',
        'controller.replicas': '3 does nothing: set it below allInOne, or set mode: distributed',
        'controller.resources.limits.cpu': '"1" does nothing: set it below allInOne, or set mode: distributed',
        'crds.annotations': 'it does nothing: set crds.install: true',
        'crds.keep': 'false does nothing: set crds.install: true',
        'executor.podLabels': 'it does nothing: set it below allInOne, or set mode: distributed',
        'metrics.dashboard.labels.a': '"b" does nothing: set metrics.dashboard.enabled: true',
        'metrics.prometheusRule.labels': 'it does nothing: set metrics.prometheusRule.enabled: true',
        'metrics.serviceMonitor.interval': '"10s" does nothing: set metrics.serviceMonitor.enabled: true',
        'networkPolicy.redisPorts': 'it does nothing: set mode: distributed',
        'redis.prefix': '"team-a" does nothing: set mode: distributed',
        'redis.secret.name': '"redis" does nothing: set mode: distributed',
        'tracing.headersSecret.name': '"collector" does nothing: set tracing.endpoint',
        'tracing.samplerArg': '"0.1" does nothing: set tracing.endpoint',
        'trustedCAs.key': '"a.crt" does nothing: set trustedCAs.configMap or trustedCAs.secret',
        'webhook.certManager.issuerRef': 'it does nothing: set admission: webhook',
      },
    ],
    [
      'with separate processes',
      {
        mode: 'distributed',
        redis: { url: 'redis://redis', ca: { key: 'a.crt' }, secret: { name: 'redis', sentinelPasswordKey: 'sentinels' } },
        allInOne: { replicas: 2 },
        admission: 'webhook',
        webhook: { certManager: { issuerRef: { name: 'internal' } } },
        api: { login: { groupsPrefix: 'oidc:', ...login } },
        tracing: { endpoint: 'http://collector:4318', samplerArg: '0.1', headersSecret: { key: 'all' } },
      },
      {
        'allInOne.replicas': '2 does nothing: set it below controller, executor or api, or set mode: all-in-one',
        'api.login.groupsPrefix': '"oidc:" does nothing: set api.login.groupsClaim',
        'redis.ca.key': '"a.crt" does nothing: set redis.ca.configMap',
        'redis.secret.sentinelPasswordKey': '"sentinels" does nothing: write redis+sentinel://HOST:26379/NAME',
        'tracing.headersSecret.key': '"all" does nothing: set tracing.headersSecret.name',
        'tracing.samplerArg': '"0.1" does nothing: set tracing.sampler: parentbased_traceidratio',
        'webhook.certManager.issuerRef': 'it does nothing: set webhook.certManager.enabled: true',
      },
    ],
    [
      'if the feature that they belong to is off',
      {
        api: { enabled: false, requestsPerSecond: 50, ingress: { enabled: true } },
        metrics: { enabled: false, reader: { namespace: 'monitoring', name: 'prometheus' }, prometheusRule: { enabled: true } },
        networkPolicy: { enabled: false, apiServerPorts: [6443] },
        rbac: {
          create: false,
          policySecrets: [{ namespace: 'demo', names: ['slack'] }],
          sharedGroupNamespaces: ['demo'],
          drain: { conditions: true },
          nodeLocks: { leaseNamespace: 'leases' },
          pinSecretNamespaces: ['demo'],
        },
      },
      {
        'api.ingress.enabled': 'true does nothing: set api.enabled: true',
        'api.requestsPerSecond': '50 does nothing: set api.enabled: true',
        'metrics.prometheusRule.enabled': 'true does nothing: set metrics.enabled: true',
        'metrics.reader': 'it does nothing: set api.enabled: true',
        'networkPolicy.apiServerPorts': 'it does nothing: set networkPolicy.enabled: true',
        'rbac.drain.conditions': 'true does nothing: list namespaces in rbac.drain.namespaces',
        'rbac.nodeLocks.leaseNamespace': '"leases" does nothing: list namespaces in rbac.nodeLocks.namespaces',
        'rbac.pinSecretNamespaces': 'it does nothing: set rbac.configPin: true',
        'rbac.policySecrets': 'it does nothing: set rbac.create: true',
        'rbac.sharedGroupNamespaces': 'it does nothing: set rbac.groups: true',
      },
    ],
  ])('without effect are rejected all at once, each with the fix: %s', async (_, values, refused) => {
    const { stderr } = await helm(['template', 'tranche', chart], { values })
    const reported = stderr.matchAll(/^(?:.*: )?(\w+(?:\.\w+)+): .*, and so (.* does nothing: .*), or leave it out$/gm)
    expect(Object.fromEntries([...reported].map(([, path, rest]) => [path, rest]))).toEqual(refused)
  })

  it.each([
    [{ commonLabels: { 'app.kubernetes.io/part-of': 'shop' } }, 'commonLabels: app.kubernetes.io/part-of is set by the chart'],
    [{ service: { labels: { 'tranche.dev/endpoint': 'api' } } }, 'service.labels: tranche.dev/endpoint is set by the chart'],
    [{ api: { service: { labels: { 'helm.sh/chart': 'a' } } } }, 'api.service.labels: helm.sh/chart is set by the chart'],
    [
      { allInOne: { deploymentLabels: { 'app.kubernetes.io/name': 'a' } } },
      'allInOne.deploymentLabels: app.kubernetes.io/name is set by the chart',
    ],
    [{ allInOne: { podLabels: { 'app.kubernetes.io/name': 'a' } } }, 'allInOne.podLabels: app.kubernetes.io/name is set by the chart'],
    [
      { allInOne: { extraEnv: [{ name: 'NODE_OPTIONS' }] } },
      'allInOne.extraEnv[0]: NODE_OPTIONS is already set by the chart: set allInOne.nodeOptions',
    ],
  ])('%j are rejected, because the chart sets them itself', async (values, message) => {
    await expect(renderText(values)).rejects.toThrow(message)
  })

  it.each([
    ['policy', '1.35.0', 'admission: policy needs Kubernetes 1.36'],
    ['webhook', '1.29.0', 'admission: webhook needs Kubernetes 1.30'],
  ])('are rejected if the cluster is too old for %s', async (admission, version, message) => {
    const { code, stderr } = await helm(['template', 'tranche', chart, '--kube-version', version], { values: { admission } })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
  })

  it('are rejected without repeating a password', async () => {
    const { code, stderr, stdout } = await helm(['template', 'tranche', chart], {
      values: { mode: 'distributed', redis: { url: 'redis://user:geheim@redis' } },
    })
    expect(code).toBe(1)
    expect(stderr).toContain('redis.url: holds a password')
    expect(stderr + stdout).not.toContain('geheim')
  })
})

describe('the schema of the values', () => {
  it('describes every value, and rejects unknown ones', () => {
    expect(objectsOf(schema, '').filter(({ path, schema: one }) => isOpen(one) && !handedOn.test(path))).toEqual([])
    expect(objectsOf(schema, '').filter(({ schema: one }) => one.$ref === undefined && !one.description)).toEqual([])
  })

  it('matches a comment on every value in values.yaml, except for values that share one line', () => {
    const values = chartValues().filter(({ default: value }) => value !== undefined)
    expect(values.length).toBeGreaterThan(150)
    const inOneLine = /\.(resources|serviceAccount|headersSecret|rollingUpdate|livenessProbe|readinessProbe)\../
    expect(values.filter(({ path, comment }) => comment === '' && !inOneLine.test(path)).map(({ path }) => path)).toEqual([])
  })

  it('has exactly the values of values.yaml', () => {
    const known = objectsOf(schema, '')
      .map(({ path }) => path)
      .filter((path) => path !== '' && !path.includes('[]'))
    const given = pathsOf(defaults, '')
    expect(given.filter((path) => !known.includes(path) && !isInMap(path))).toEqual([])
  })

  it('requires every group of values, which null would remove, except for requests and limits', () => {
    const given = pathsOf(defaults, '')
    const isGroup = ({ properties, additionalProperties }: Schema): boolean => properties !== undefined && additionalProperties === false
    const groups = objectsOf(schema, '').flatMap(({ path, schema: { properties = {}, required = [] } }) => {
      const isGiven = (key: string): boolean => given.some((one) => one.startsWith(path === '' ? `${key}.` : `${path}.${key}.`))
      const keys = Object.keys(properties).filter((key) => isGroup(resolved(properties[key]!)) && isGiven(key))
      return keys.map((key) => ({ path: path === '' ? key : `${path}.${key}`, isWanted: required.includes(key) }))
    })
    expect(groups.length).toBeGreaterThan(25)
    const left = groups.filter(({ isWanted }) => !isWanted).map(({ path }) => path)
    expect(left.filter((path) => !/\.resources(\.|$)/.test(path))).toEqual([])
  })
})

/** Maps such as labels, whose keys are the user's. */
function isInMap(path: string): boolean {
  const parent = objectsOf(schema, '').find((one) => one.path === path.slice(0, path.lastIndexOf('.')))?.schema
  return parent?.additionalProperties !== undefined && parent.additionalProperties !== false
}

function isOpen({ type, properties, additionalProperties }: Schema): boolean {
  if (type !== 'object') return false
  return properties === undefined ? additionalProperties === undefined : additionalProperties !== false
}

interface Found {
  readonly path: string
  readonly schema: Schema
}

function objectsOf(one: Schema, path: string): readonly Found[] {
  const whole = resolved(one)
  const below = Object.entries(whole.properties ?? {}).flatMap(([key, value]) => objectsOf(value, path === '' ? key : `${path}.${key}`))
  // Items of lists that Kubernetes checks are open.
  return [{ path, schema: whole }, ...below]
}

function resolved(one: Schema): Schema {
  return one.$ref === undefined ? one : { ...schema.definitions?.[one.$ref.split('/').at(-1) ?? ''] }
}

function pathsOf(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path]
  const below = Object.entries(value).flatMap(([key, one]) => pathsOf(one, path === '' ? key : `${path}.${key}`))
  return path === '' ? below : [path, ...below]
}
