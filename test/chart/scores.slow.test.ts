import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../clients/cluster.ts'
import { runProgram } from '../clients/run-program.ts'
import { chart, helm, programs, render, type Rendered, type Values } from './chart.ts'
import { choices } from './values.ts'

/** Every combination of the values that add or remove whole objects. */
const matrix: readonly (readonly [string, Values])[] = combined({
  mode: { 'all-in-one': {}, distributed: { mode: 'distributed', redis: { url: 'redis://redis' } } },
  api: { 'with the REST API': {}, 'without the REST API': { api: { enabled: false } } },
  admission: { 'no admission': {}, policies: { admission: 'policy' }, 'a webhook': { admission: 'webhook' } },
  metrics: { metrics: {}, 'no metrics': { metrics: { enabled: false } } },
  scope: { 'all namespaces': {}, 'one namespace': { scope: { namespaces: ['agents'] } } },
})

/** Kinds of operators, whose definitions are not part of a cluster, so that their schemas are unknown here. */
const foreignGroups = new Set(['monitoring.coreos.com', 'cert-manager.io', 'gateway.networking.k8s.io'])

describe.skipIf(programs === null)('the chart, with the checks of kube-score and kube-linter', { timeout: 300_000 }, () => {
  it.each([...Object.entries(choices), ...matrix])('passes with %s', async (_name, values) => {
    const objects = await render({ ...values, crds: { install: false } })
    expect(objects.flatMap((object) => findingsOf(object, objects))).toEqual([])
  })

  it('reports every check for a Deployment without settings', () => {
    const container = { name: 'a', image: 'a:latest' }
    const template = { metadata: { labels: { app: 'a' } }, spec: { hostNetwork: true, containers: [container] } }
    const spec = { replicas: 2, selector: { matchLabels: { app: 'b' } }, template }
    const bare = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec } as unknown as Rendered
    expect(findingsOf(bare, [bare])).toHaveLength(18)
  })
})

describe.skipIf(programs === null)('the chart, with the schemas of a cluster', { timeout: 300_000 }, () => {
  let cluster: Cluster
  // The cluster in `TRANCHE_TEST_KUBECONFIG`, or the simulator.
  let kubeconfig = process.env['TRANCHE_TEST_KUBECONFIG'] ?? ''
  beforeAll(async () => {
    cluster = await startCluster(0, { definitions: false })
    if (kubeconfig === '') kubeconfig = cluster.kubeconfig
    for (const name of ['tranche-system', 'agents', 'network', 'demo', 'monitoring-agents', 'leases', 'medik8s-leases', 'gpu-operator'])
      await kubectl(['create', 'namespace', name], '')
  })
  afterAll(() => cluster.end())

  it.each(Object.entries(choices))('has only valid fields with %s', async (_name, values) => {
    // A dry run creates no account, but the pod of `helm test` needs one.
    const known = (await render(values)).filter(
      ({ apiVersion, metadata: { annotations } }) =>
        !foreignGroups.has(apiVersion.split('/')[0]!) && annotations?.['helm.sh/hook'] === undefined,
    )
    expect(known.length).toBeGreaterThan(1)
    for (const { apiVersion } of known) expect(apiVersion).not.toMatch(/beta|alpha/)
    const { code, stderr } = await kubectl(strictly, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: known }))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('is rejected if a field is unknown or of another type', async () => {
    const service = (await render({})).find(({ kind }) => kind === 'Service')!
    const unknown = await kubectl(strictly, JSON.stringify({ ...service, spec: { ...service.spec, port: 1 } }))
    expect(unknown.stderr).toContain('unknown field "spec.port"')
    const other = await kubectl(strictly, JSON.stringify({ ...service, spec: { ...service.spec, ports: 'all' } }))
    expect(other.code).toBe(1)
  })

  const strictly = ['apply', '--dry-run=server', '--validate=strict', '-f', '-']
  const kubectl = (args: readonly string[], input: string) =>
    runProgram(programs!.kubectl, ['--kubeconfig', kubeconfig, ...args], { input })
})

describe.skipIf(programs === null)('helm lint', { timeout: 300_000 }, () => {
  it.each(matrix)('has no findings with %s', async (_name, values) => {
    const { code, stdout, stderr } = await helm(['lint', '--strict', chart], { values })
    expect({ code, stderr, said: /\[(WARNING|ERROR)\].*/.exec(stdout)?.[0] }).toEqual({ code: 0, stderr: '', said: undefined })
  })
})

interface Container {
  readonly name: string
  readonly image: string
  readonly imagePullPolicy?: string
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts }
  readonly readinessProbe?: object
  readonly livenessProbe?: object
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean
    readonly readOnlyRootFilesystem?: boolean
    readonly privileged?: boolean
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] }
  }
}
type Amounts = Readonly<Record<string, string>>

interface PodSpec {
  readonly containers: readonly Container[]
  readonly hostNetwork?: boolean
  readonly hostPID?: boolean
  readonly hostIPC?: boolean
  readonly serviceAccountName?: string
  readonly affinity?: object
  readonly topologySpreadConstraints?: readonly object[]
  readonly securityContext?: { readonly runAsNonRoot?: boolean; readonly seccompProfile?: { readonly type: string } }
}
interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> }
}
interface DeploymentSpec {
  readonly replicas?: number
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
  readonly template: Labelled & { readonly spec: PodSpec }
}

/** @returns the findings of a linter for one object beside the others, as `KIND/NAME: what` */
function findingsOf(object: Rendered, all: readonly Rendered[]): readonly string[] {
  const checks = object.kind === 'Deployment' ? deploymentChecks(object, all) : object.kind === 'Service' ? serviceChecks(object, all) : []
  return checks.flatMap(([is, what]) => (is ? [] : [`${object.kind}/${object.metadata.name}: ${what}`]))
}

type Check = readonly [is: boolean, what: string]

function deploymentChecks(object: Rendered, all: readonly Rendered[]): readonly Check[] {
  const { replicas, selector, template } = object.spec as unknown as DeploymentSpec
  const { spec: pod } = template
  const many = (replicas ?? 1) > 1
  const budgets = all.filter(({ kind }) => kind === 'PodDisruptionBudget')
  const policies = all.filter(({ kind }) => kind === 'NetworkPolicy')
  const hasNoPolicies = policies.length === 0 && all.length > 1
  return [
    [chosenBy(selector, template), 'its selector does not choose its pods'],
    [pod.hostNetwork !== true && pod.hostPID !== true && pod.hostIPC !== true, 'its pods share something of the host'],
    [(pod.serviceAccountName ?? 'default') !== 'default', 'its pods run as the default account'],
    [pod.securityContext?.runAsNonRoot === true, 'its pods may run as root'],
    [pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'its pods have no seccomp profile'],
    [!many || pod.affinity !== undefined || pod.topologySpreadConstraints !== undefined, 'its pods may all be on one node'],
    [!many || (budgets.length === 0 && all.length > 1) || isChosen(budgets, template), 'no PodDisruptionBudget chooses its pods'],
    [hasNoPolicies || isChosen(policies, template, 'podSelector'), 'no NetworkPolicy chooses its pods'],
    ...pod.containers.flatMap(containerChecks),
  ]
}

function containerChecks({ name, image, resources, readinessProbe, livenessProbe, securityContext, ...rest }: Container): readonly Check[] {
  const { requests, limits } = resources ?? {}
  const checks: readonly Check[] = [
    [/@sha256:|:(?!latest$)[^/:]+$/.test(image), 'its image has no fixed version'],
    [rest.imagePullPolicy !== undefined, 'it does not say when its image is pulled'],
    [requests?.['cpu'] !== undefined && requests['memory'] !== undefined, 'it requests no CPU or memory'],
    [limits?.['memory'] !== undefined, 'its memory has no limit'],
    [isBounded(requests, limits), 'what it writes to the disk of its node has no request or limit'],
    [readinessProbe !== undefined, 'nothing says when it is ready'],
    [livenessProbe !== undefined, 'nothing says when it hangs'],
    [livenessProbe === undefined || JSON.stringify(livenessProbe) !== JSON.stringify(readinessProbe), 'its two probes are one'],
    [securityContext?.allowPrivilegeEscalation === false && securityContext.privileged !== true, 'it may get more rights'],
    [securityContext?.readOnlyRootFilesystem === true, 'it may write to its image'],
    [
      securityContext?.capabilities?.drop?.includes('ALL') === true && securityContext.capabilities.add === undefined,
      'it keeps capabilities',
    ],
  ]
  return checks.map(([is, what]) => [is, `container ${name}: ${what}`])
}

function isBounded(requests: Amounts | undefined, limits: Amounts | undefined): boolean {
  return requests?.['ephemeral-storage'] !== undefined && limits?.['ephemeral-storage'] !== undefined
}

function serviceChecks({ spec }: Rendered, all: readonly Rendered[]): readonly Check[] {
  const matchLabels = (spec as unknown as { readonly selector: Readonly<Record<string, string>> }).selector
  const deployments = all.filter(({ kind }) => kind === 'Deployment').map((one) => one.spec as unknown as DeploymentSpec)
  return [[deployments.some(({ template }) => chosenBy({ matchLabels }, template)), 'it chooses no pod']]
}

function isChosen(choosers: readonly Rendered[], pods: Labelled, field = 'selector'): boolean {
  return choosers.some(({ spec }) => chosenBy((spec as unknown as Readonly<Record<string, DeploymentSpec['selector']>>)[field]!, pods))
}

function chosenBy({ matchLabels }: DeploymentSpec['selector'], { metadata: { labels = {} } }: Labelled): boolean {
  return Object.entries(matchLabels).every(([label, value]) => labels[label] === value)
}

/** @returns one entry for each combination of one alternative from every part */
function combined(parts: Readonly<Record<string, Readonly<Record<string, Values>>>>): readonly (readonly [string, Values])[] {
  return Object.values(parts).reduce<readonly (readonly [string, Values])[]>(
    (found, alternatives) =>
      found.flatMap(([name, values]) =>
        Object.entries(alternatives).map(([also, more]) => [name === '' ? also : `${name}, ${also}`, { ...values, ...more }] as const),
      ),
    [['', {}]],
  )
}
