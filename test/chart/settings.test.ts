import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { chart, helm, programs, render, type Rendered, type Values } from './chart.ts'
import { choices } from './values.ts'

// Without the definitions, which are most of the text.
const distributed = { mode: 'distributed', redis: { url: 'redis://redis' }, crds: { install: false } }

describe.skipIf(programs === null)('settings of all pods', () => {
  it('apply to every pod, also to the one of helm test', async () => {
    const settings = {
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['10.0.0.10'], options: [{ name: 'ndots', value: '2' }] },
      hostAliases: [{ ip: '10.0.0.7', hostnames: ['issuer.example.com'] }],
      runtimeClassName: 'sandboxed',
      hostUsers: false,
    }
    const pods = podsOf(await render({ ...distributed, pods: settings }))
    expect(pods).toHaveLength(4)
    for (const { spec } of pods) expect(spec).toMatchObject(settings)
    for (const { spec } of podsOf(await render(distributed))) expect(Object.keys(spec).filter((key) => key in settings)).toEqual([])
  })

  it('extend the security context, without weakening it', async () => {
    const seccompProfile = { type: 'Localhost', localhostProfile: 'profiles/tranche.json' }
    const own = { supplementalGroups: [4000], fsGroup: 5000, seLinuxOptions: { level: 's0:c25,c10' }, seccompProfile }
    for (const { spec } of podsOf(await render({ ...distributed, pods: { securityContext: own } })))
      expect(spec.securityContext).toEqual({ runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, ...own })
  })

  it('have ids of ten digits, as OpenShift assigns them, in whole numbers', async () => {
    const [uid, gid] = [1_000_650_000, 1_000_650_001]
    for (const { spec } of podsOf(await render({ ...distributed, runAsUser: uid, runAsGroup: gid })))
      expect(spec.securityContext).toMatchObject({ runAsUser: uid, runAsGroup: gid, fsGroup: gid })
    const text = JSON.stringify(podsOf(await render({ ...distributed, runAsUser: uid, runAsGroup: gid })))
    expect(text).not.toContain('e+')
  })

  it('leave every id to the cluster with null', async () => {
    for (const { spec } of podsOf(await render({ ...distributed, runAsUser: null, runAsGroup: null })))
      expect(spec.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
  })

  it('time the probes and the end of the Deployments', async () => {
    const pods = { livenessProbe: { initialDelaySeconds: 60 }, readinessProbe: { failureThreshold: 9 }, terminationGracePeriodSeconds: 90 }
    for (const { spec } of podsOf(await render({ ...distributed, pods })).slice(0, 3)) {
      expect(spec.terminationGracePeriodSeconds).toBe(90)
      const { livenessProbe, readinessProbe } = spec.containers[0]!
      expect(livenessProbe).toMatchObject({ initialDelaySeconds: 60, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 })
      expect(readinessProbe).toMatchObject({ periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 9 })
    }
  })
})

describe.skipIf(programs === null)('settings of a parent chart', () => {
  const registry = { registry: 'registry.example/team', pullSecrets: [{ name: 'own' }, { name: 'shared' }] }

  it('replace the registry of the image, and add pull secrets by name or as objects', async () => {
    const global = { imageRegistry: 'mirror.example:5000/all', imagePullSecrets: ['mirror', { name: 'shared' }], another: 'value' }
    for (const { spec } of podsOf(await render({ ...distributed, image: registry, global }))) {
      for (const { image } of spec.containers) expect(image).toMatch(/^mirror\.example:5000\/all\/tranche:\d/)
      expect(spec.imagePullSecrets).toEqual([{ name: 'mirror' }, { name: 'shared' }, { name: 'own' }])
    }
  })

  it.each([{}, null])('change nothing if they are %j', async (global) => {
    for (const { spec } of podsOf(await render({ ...distributed, image: registry, global }))) {
      for (const { image } of spec.containers) expect(image).toMatch(/^registry\.example\/team\/tranche:\d/)
      expect(spec.imagePullSecrets).toEqual(registry.pullSecrets)
    }
  })
})

describe.skipIf(programs === null)('labels and annotations of the values', () => {
  it('of one object override those of all, each key once', async () => {
    const objects = await render({
      ...distributed,
      commonLabels: { team: 'platform', cost: 'a' },
      controller: {
        deploymentLabels: { team: 'releases' },
        deploymentAnnotations: { note: 'a' },
        podLabels: { team: 'pods' },
        podAnnotations: { 'kubectl.kubernetes.io/default-container': 'proxy' },
      },
      service: { labels: { team: 'network', exposure: 'internal' }, annotations: { note: 'all', mesh: 'true' } },
      api: { service: { labels: { exposure: 'public' }, annotations: { note: 'api' } } },
    })
    const named = (kind: string, name: string) => objects.find((one) => one.kind === kind && one.metadata.name === name)!.metadata
    expect(named('Deployment', 'tranche-controller').labels).toMatchObject({ team: 'releases', cost: 'a' })
    expect(named('Deployment', 'tranche-controller').annotations).toEqual({ note: 'a' })
    expect(named('Deployment', 'tranche-executor').labels).toMatchObject({ team: 'platform', cost: 'a' })
    expect(named('Service', 'tranche-api').labels).toMatchObject({ team: 'network', exposure: 'public', cost: 'a' })
    expect(named('Service', 'tranche-api').annotations).toEqual({ note: 'api', mesh: 'true' })
    expect(named('Service', 'tranche-executor-metrics').labels).toMatchObject({ team: 'network', exposure: 'internal' })
    expect(named('Service', 'tranche-executor-metrics').annotations).toEqual({ note: 'all', mesh: 'true' })
    const [controller] = podsOf(objects).filter(({ name }) => name === 'tranche-controller')
    expect(controller?.labels).toMatchObject({ team: 'pods', cost: 'a' })
    expect(controller?.annotations).toEqual({ 'kubectl.kubernetes.io/default-container': 'proxy' })
  })

  it('reach the CustomResourceDefinitions beside the one that keeps them', async () => {
    const annotations = async (crds: Values): Promise<readonly unknown[]> =>
      (await render({ crds })).filter(({ kind }) => kind === 'CustomResourceDefinition').map(({ metadata }) => metadata.annotations)
    const own = { 'argocd.argoproj.io/sync-options': 'ServerSideApply=true' }
    expect(await annotations({ annotations: own })).toEqual(Array(3).fill({ ...own, 'helm.sh/resource-policy': 'keep' }))
    expect(await annotations({ annotations: own, keep: false })).toEqual(Array(3).fill(own))
  })
})

describe.skipIf(programs === null)('settings of the Service of the REST API', () => {
  it('limit and place its load balancer', async () => {
    const service = {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      loadBalancerClass: 'example.com/internal',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
    }
    const objects = await render({ ...distributed, api: { service: { ...service, nodePort: 30_080 } } })
    const { spec } = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'tranche-api')!
    expect(spec).toMatchObject({ ...service, ports: [{ name: 'http', port: 80, nodePort: 30_080 }] })
  })
})

describe.skipIf(programs === null)('text of the values', () => {
  it('is the severity of an alert, whatever it means in YAML', async () => {
    const prometheusRule = { enabled: true, severities: { TrancheReleaseStalled: 'a, b: c #' } }
    const rule = (await render({ crds: { install: false }, metrics: { prometheusRule } })).find(({ kind }) => kind === 'PrometheusRule')
    expect(JSON.stringify(rule)).toContain('"labels":{"severity":"a, b: c #"}')
  })

  it.each(['null', 'no', '1e3'])('is text where YAML would read another type: %s', async (word) => {
    for (const name of ['every option', 'a webhook by cert-manager', 'two namespaces']) {
      const [given, ordinary] = await Promise.all([word, ORDINARY].map((one) => objectsNamed(one, word, choices[name]!)))
      expect(given).toEqual(ordinary!.map((text) => text.replaceAll(ORDINARY, word)))
    }
  })
})

it('every template quotes text that it takes from values', () => {
  const templates = globSync(`${chart}/templates/**/*.{yaml,tpl}`).filter((path) => !/_(checks|idle)\.tpl$/.test(path))
  expect(templates.length).toBeGreaterThan(15)
  const isBare = /(?:: |- |\[)[\w./=-]*\{\{ (?!.*(?:quote|toYaml|toJson|nindent|int|int64)\b)/
  const isNoText = /(?:replicas|revisionHistoryLimit|port|nodePort|kind): /i
  const lines = templates.flatMap((path) => readFileSync(path, 'utf8').split('\n'))
  expect(lines.filter((line) => isBare.test(line) && !isNoText.test(line))).toEqual([])
})

interface Schema {
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly definitions?: Readonly<Record<string, Schema>>
  readonly $ref?: string
}

const schema = JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8')) as Schema

/** A name that YAML reads as text. */
const ORDINARY = 'zzz'

/** Objects as JSON, read as Kubernetes reads them, where each name in the values, the release and its namespace are `name`. */
async function objectsNamed(name: string, word: string, values: Values): Promise<readonly string[]> {
  const named = { ...(withNames(values, schema, { name, word }) as Values), crds: { install: false } }
  const { code, stdout, stderr } = await helm(['template', name, chart, '--namespace', name], { values: named })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const objects = parseAllDocuments(stdout, { version: '1.1' }).map((document) => JSON.stringify(document.toJS()))
  return objects.toSorted()
}

/** Replaces each text by `name` that may be `word` and {@link ORDINARY}. Containers keep their names, which must differ. */
function withNames(value: unknown, { $ref, ...own }: Schema, names: { readonly name: string; readonly word: string }): unknown {
  const { pattern, properties = {}, items } = $ref === undefined ? own : schema.definitions![$ref.split('/').at(-1)!]!
  if (typeof value === 'string')
    return pattern !== undefined && [ORDINARY, names.word].every((one) => new RegExp(pattern).test(one)) ? names.name : value
  if (Array.isArray(value)) return items === undefined ? value : [...new Set(value.map((one) => withNames(one, items, names)))]
  if (typeof value !== 'object' || value === null) return value
  const isKept = (key: string): boolean => properties[key] === undefined || /containers$/i.test(key)
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, isKept(key) ? one : withNames(one, properties[key]!, names)]))
}

interface PodSpec {
  readonly securityContext: object
  readonly imagePullSecrets?: readonly object[]
  readonly terminationGracePeriodSeconds?: number
  readonly containers: readonly Container[]
}

interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly livenessProbe?: object
  readonly readinessProbe?: object
}

interface Pod {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec: PodSpec
}

/** Pods of the Deployments, then the one of helm test. */
function podsOf(objects: readonly Rendered[]): readonly Pod[] {
  const pods = (kind: string): readonly Pod[] =>
    objects
      .filter((one) => one.kind === kind)
      .map(({ metadata, spec }) => {
        const template = (spec as { readonly template?: { readonly metadata: Omit<Pod, 'name' | 'spec'>; readonly spec: PodSpec } })
          .template
        return { name: metadata.name, ...(template?.metadata ?? metadata), spec: template?.spec ?? (spec as unknown as PodSpec) }
      })
  return [...pods('Deployment'), ...pods('Pod')]
}
