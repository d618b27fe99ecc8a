import { Readable } from 'node:stream'
import { launch } from '@tranche/launcher'
import { resources } from '@tranche/sim-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chartRules } from '../../scripts/chart-rules.ts'
import { agentManifest, agentRollout, type Cluster, startCluster } from './cluster.ts'
import { type Programs, startPrograms } from './programs.ts'

/** Roles of docs/operations/permissions.md, which the chart installs. */
const { ClusterRole: page } = chartRules()

/** Commands that only read. */
const looking = [
  'list',
  'get agent',
  'get agent -o wide',
  'status agent --timeout 0',
  'status agent --through-pauses --timeout 1s',
  'explain rollout/agent',
  'explain node-001',
  'history agent',
  'diff agent',
  'plan agent --image agent:v3',
]

/** Commands that act on a release in its first step, complete it and roll it back. */
const acting = [
  'pause agent --reason lunch --wait',
  'resume agent --wait',
  'approve agent --wait',
  'undo agent --to-revision 1 --yes --wait',
  'abort agent --yes --wait',
  'retry agent --dry-run',
  'restart agent --wait',
  'jump agent --step 2 --wait',
  'promote agent --yes --dry-run',
]

let cluster: Cluster
let programs: Programs
/** Rights that alice's requests need, as `verb group/resource`. */
const asked = new Set<string>()

beforeAll(async () => {
  cluster = await startCluster(3, {
    faults: {
      onRequest({ actor, verb, resource }) {
        // Discovery and OpenAPI are open to every authenticated user.
        if (actor === 'alice' && resource.resource !== 'documents') asked.add(`${verb} ${resource.group}/${resource.resource}`)
        return undefined
      },
    },
  })
  programs = await startPrograms(cluster)
  for (const [name, rules] of Object.entries(page)) await create('clusterRoles', { metadata: { name, labels: labelsOf(name) }, rules })
  await create('clusterRoleBindings', { metadata: { name: 'cluster' }, ...binding('tranche-cli-cluster') })
})

afterAll(async () => {
  await programs.stop()
  await cluster.end()
})

describe('the roles of the chart, on the command line', () => {
  it.each(['tranche-cli-viewer', 'view'])('%s allows every command that only reads, and none that acts', async (role) => {
    const namespace = await releaseIn(role)
    expect(await refusals(looking, namespace)).toEqual([])
    expect(await tranche('approve agent', namespace)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^API_REFUSED: .*cannot patch/) as string,
    })
  })

  it.each(['tranche-cli-operator', 'edit'])('%s allows every command', async (role) => {
    const namespace = await releaseIn(role)
    expect(await refusals([...looking, ...acting], namespace)).toEqual([])
  })

  it.each([
    ['tranche-cli-viewer', looking],
    ['tranche-cli-operator', [...looking, ...acting]],
  ])('%s grants exactly the rights that its commands use', async (role, commands) => {
    const namespace = await releaseIn('cluster-admin', `${role}-asked`)
    await refusals(commands, namespace)
    expect([...asked].toSorted()).toEqual([...new Set([...rightsOf(role), ...rightsOf('tranche-cli-cluster')])].toSorted())
  })
})

/** Creates a release that waits in its first step, in its own namespace, where alice has `role`. */
async function releaseIn(role: string, name = role): Promise<string> {
  const namespace = `with-${name}`
  await create('namespaces', { metadata: { name: namespace } })
  await create('roleBindings', { metadata: { name: 'alice', namespace }, ...binding(role) })
  await create('releasePolicies', { metadata: { name: 'careful', namespace }, spec: {} })
  await create('daemonSets', agentIn(namespace, 'v1'))
  const annotations = { 'tranche.dev/release-policy': 'careful' }
  await create('rollouts', { ...agentRollout, metadata: { name: 'agent', namespace, annotations } })
  await expect(tranche('status agent --timeout 30s', namespace, 'admin')).resolves.toMatchObject({ code: 0 })
  await tranche('restart agent --wait', namespace, 'admin')
  await expect(tranche('status agent --timeout 30s', namespace, 'admin')).resolves.toMatchObject({ code: 3 })
  asked.clear()
  return namespace
}

function agentIn(namespace: string, tag: string): object {
  const { spec, ...manifest } = agentManifest(tag)
  const template = { ...spec.template, spec: { ...spec.template.spec, priorityClassName: 'system-node-critical' } }
  return { ...manifest, metadata: { name: 'agent', namespace }, spec: { ...spec, template } }
}

/** Labels of the chart on roles that Kubernetes aggregates into its own. */
function labelsOf(name: string): Readonly<Record<string, string>> {
  const to = /^tranche-aggregate-(\w+)$/.exec(name)?.[1]
  return to === undefined ? {} : { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true' }
}

function binding(role: string): object {
  const apiGroup = 'rbac.authorization.k8s.io'
  return { roleRef: { apiGroup, kind: 'ClusterRole', name: role }, subjects: [{ apiGroup, kind: 'User', name: 'alice' }] }
}

async function create(resource: keyof typeof ids, object: object): Promise<void> {
  await cluster.simulator.clientFor({ name: 'admin' }).create(ids[resource], object)
}

/** Messages of the commands about missing rights, during the command or at its end. */
async function refusals(commands: readonly string[], namespace: string): Promise<readonly string[]> {
  const said: string[] = []
  for (const command of commands) {
    const { out, err } = await tranche(command, namespace)
    const refusal = /.*(?:API_REFUSED|cannot \w+ resource|may not be read|forbidden).*/i.exec(out + err)
    if (refusal !== null) said.push(`${command}: ${refusal[0]}`)
  }
  return said
}

function rightsOf(role: string): readonly string[] {
  return (page[role] ?? []).flatMap(({ apiGroups = [], resources: plural = [], verbs = [] }) =>
    verbs.flatMap((verb) => apiGroups.flatMap((group) => plural.map((one) => `${verb} ${group}/${one}`))),
  )
}

/** Runs a command as alice, or as `user`. */
async function tranche(
  line: string,
  namespace: string,
  user = 'alice',
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const text = { out: '', err: '' }
  const to = (stream: 'out' | 'err') => ({ write: (words: string) => void (text[stream] += words) })
  const args = [...line.split(' '), '-n', namespace, '--kubeconfig', cluster.kubeconfig, ...(user === 'admin' ? [] : ['--as', user])]
  const code = await launch(args, { in: Readable.from([]), out: to('out'), err: to('err'), env: {} })
  return { code, ...text }
}

const ids = {
  ...resources,
  rollouts: { group: 'rollouts.kruise.io', resource: 'rollouts' },
  releasePolicies: { group: 'tranche.dev', resource: 'releasepolicies' },
}
