import type { BatchRelease } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { createKubeClient } from '@tranche/kube-client'
import type { Lease } from '@tranche/kube-types'
import { holderText } from '@tranche/planner'
import { silentLogger } from '@tranche/telemetry'
import { beforeEach, expect, it } from 'vitest'
import { createGroupPort, type GroupReader, type GroupSettings } from '../src/ports/group-port.ts'

const never = new AbortController().signal
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/tranche/leases'
const OWN = `${LEASES}/tranche-group.demo.agents`
const clock = new FakeClock()
let requests: { readonly line: string; readonly body: Record<string, unknown> }[] = []
/** Answers by method and path. @default 404 */
let answers: Record<string, readonly [number, object]> = {}

beforeEach(() => {
  requests = []
  answers = {}
})

it('sends no request for a release without a group', async () => {
  expect(await port().group(release({}), true, never)).toBeUndefined()
  expect(requests).toEqual([])
})

it('sends no request where the installation allows no groups, and says what to set', async () => {
  expect(await port(null).group(release(), true, never)).toMatchObject({
    refused: { reason: 'GroupNotAllowed', message: expect.stringContaining('set rbac.groups: true') },
    lease: null,
  })
  expect(requests).toEqual([])
})

it('reads the Lease of the namespace of the release, and the release that it names', async () => {
  const other = release(undefined, 'other')
  answers[`GET ${OWN}`] = [200, lease(holderText(other))]
  const group = await port({ namespace: 'tranche', shared: [] }, [other, release({}, 'third')]).group(release(), true, never)
  expect(group).toMatchObject({ wanted: 'tranche-group.demo.agents', refused: null, holder: { release: { metadata: { name: 'other' } } } })
  expect(namesOf(group)).toEqual(['other'])
})

it('reads one Lease for all namespaces that share their groups', async () => {
  const shared = { namespace: 'tranche', shared: ['demo'] }
  const group = await port(shared, [release(undefined, 'other', 'elsewhere')]).group(release(), true, never)
  expect(group).toMatchObject({ wanted: 'tranche-group.agents', members: [] })
})

it('finds the other releases of the group by its name, in all namespaces that share it', async () => {
  const shared = { namespace: 'tranche', shared: ['demo', 'elsewhere'] }
  const releases = [release(undefined, 'near'), release(undefined, 'far', 'elsewhere'), release(undefined, 'foreign', 'third')]
  expect(namesOf(await port(shared, releases).group(release(), true, never))).toEqual(['near', 'far'])
})

it('knows of other releases whether they control their DaemonSet', async () => {
  const releases = [release(undefined, 'other'), release(undefined, 'forged')]
  const group = await port(undefined, releases, { other: 'other', forged: 'agent' }).group(release(), true, never)
  expect(group?.members.map(({ isInCharge }) => isInCharge)).toEqual([true, false])
})

it('reads the Lease in the status first: a release gives up one group before it waits for another', async () => {
  const moved = { ...release(), status: { groupLease: 'tranche-group.demo.former' } }
  expect(await port().group(moved, true, never)).toMatchObject({ name: 'tranche-group.demo.former', wanted: 'tranche-group.demo.agents' })
})

it('reads again after some seconds, and always where a record is to be opened', async () => {
  const reader = port()
  for (const live of [false, false, true]) await reader.group(release(), live, never)
  expect(requests).toHaveLength(2)
  clock.advance(4_000)
  await reader.group(release(), false, never)
  expect(requests).toHaveLength(3)
})

it('names the missing right instead of failing', async () => {
  answers[`GET ${OWN}`] = [403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'leases is forbidden' }]
  expect(await port().group(release(), true, never)).toMatchObject({
    refused: { reason: 'GroupNotAllowed', message: expect.stringContaining('leases is forbidden') },
  })
})

it.each([400, 429, 500])('says that the Lease cannot be read instead of failing, after an answer of %s', async (code) => {
  answers[`GET ${OWN}`] = [code, { kind: 'Status', code, message: 'the answer' }]
  const group = await answered(port().group(release(), true, never))
  expect(group).toMatchObject({ lease: null, refused: { reason: 'GroupFailed', message: expect.stringContaining('the answer') } })
  expect(group?.refused?.message).not.toContain('grant the controller the rights')
})

it('uses the Lease of a minute ago in an outage, but never where a record is to be opened', async () => {
  const reader = port()
  answers[`GET ${OWN}`] = [200, lease(holderText(release()))]
  await reader.group(release(), false, never)
  answers[`GET ${OWN}`] = [503, { kind: 'Status', code: 503, message: 'no leader' }]
  clock.advance(50_000)
  expect(await answered(reader.group(release(), false, never))).toMatchObject({ refused: null, lease: { metadata: { uid: 'lease' } } })
  expect(await answered(reader.group(release(), true, never))).toMatchObject({ refused: { reason: 'GroupFailed' }, lease: null })
  clock.advance(20_000)
  expect(await answered(reader.group(release(), false, never))).toMatchObject({ refused: { reason: 'GroupFailed' } })
})

it('uses no Lease of before once it may not be read', async () => {
  const reader = port()
  await reader.group(release(), false, never)
  answers[`GET ${OWN}`] = [403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'leases is forbidden' }]
  clock.advance(4_000)
  expect(await reader.group(release(), false, never)).toMatchObject({ refused: { reason: 'GroupNotAllowed' } })
})

it.each(['a%b', '', '..', 'node-drainer', 'tranche-group', 'tranche-group.A', 'tranche-group.a.b.c', `tranche-group.${'a'.repeat(64)}`])(
  'reads the Lease of the policy where the status names %o, which is no Lease of a group',
  async (groupLease) => {
    const forged = { ...release(), status: { groupLease } }
    expect(await port().group(forged, true, never)).toMatchObject({ name: 'tranche-group.demo.agents', refused: null })
    expect(requests.map(({ line }) => line)).toEqual([`GET ${OWN}`])
    expect(await port().group({ ...release({}), status: { groupLease } }, true, never)).toBeUndefined()
  },
)

it('takes a free Lease by creating it, and loses against another release', async () => {
  answers[`POST ${LEASES}`] = [409, { kind: 'Status', code: 409, reason: 'AlreadyExists', message: 'exists' }]
  await expect(port().takeLease('tranche-group.demo.agents', null, release(), never)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
  expect(requests[0]?.body).toMatchObject({
    metadata: { labels: { 'tranche.dev/group': 'agents' } },
    spec: { holderIdentity: holderText(release()) },
  })
})

it('takes the mark off a Lease in the version that was read', async () => {
  answers[`PUT ${OWN}`] = [200, lease(holderText(release()))]
  await port().takeLease('tranche-group.demo.agents', lease(holderText(release()), { 'tranche.dev/leaving': 'true' }), release(), never)
  expect(requests[0]?.body).toMatchObject({ metadata: { resourceVersion: '7', annotations: {} } })
})

it('deletes a Lease only in the version that was read', async () => {
  answers[`DELETE ${OWN}`] = [200, {}]
  await port().deleteLease(lease('demo/agent/1'), never)
  expect(requests[0]?.body).toMatchObject({ preconditions: { uid: 'lease', resourceVersion: '7' } })
})

it('takes a BatchRelease of the same name with another uid for gone', async () => {
  answers['GET /apis/rollouts.kruise.io/v1beta1/namespaces/demo/batchreleases/agent'] = [200, release()]
  const holder = { namespace: 'demo', name: 'agent', uid: 'agent' }
  expect(await port().readHolder(holder, never)).toMatchObject({ wanted: 'tranche-group.demo.agents' })
  expect(await port().readHolder({ ...holder, uid: 'former' }, never)).toBeUndefined()
  expect(await port().readHolder({ ...holder, name: 'gone' }, never)).toBeUndefined()
})

/** Lets the client retry. */
async function answered<T>(call: Promise<T>): Promise<T> {
  const end = { isOver: false }
  const over = call.finally(() => (end.isOver = true))
  while (!end.isOver) {
    await Promise.resolve()
    clock.advance(100)
  }
  return over
}

function namesOf(group: Awaited<ReturnType<GroupReader['group']>>): readonly string[] | undefined {
  return group?.members.map((one) => one.release.metadata.name)
}

/** @param controls by the name of a DaemonSet, the uid of the release that its control-info names */
function port(
  groups: GroupSettings | null = { namespace: 'tranche', shared: [] },
  releases: readonly BatchRelease[] = [],
  controls: Readonly<Record<string, string>> = {},
): GroupReader {
  const client = createKubeClient({
    exchange: async ({ method, path, body }) => {
      requests.push({ line: `${method} ${path}`, body: body === undefined ? {} : (JSON.parse(String(body)) as Record<string, unknown>) })
      const [status, answer] = answers[`${method} ${path.split('?')[0]}`] ?? [
        404,
        { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' },
      ]
      return {
        status,
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          yield JSON.stringify(answer)
        })(),
      }
    },
    ...{ clock, userAgent: 'test/1', log: silentLogger },
  })
  const find = ({ name }: { readonly name: string }) => releases.find(({ metadata }) => metadata.name === name)
  const daemonSetOf = ({ name }: { readonly name: string }) => {
    const info = JSON.stringify({ name, uid: controls[name] })
    return { metadata: { name, annotations: { 'batchrelease.rollouts.kruise.io/control-info': info } } }
  }
  // Without a list: a pass may not look at the releases of other groups.
  const byIndex = (_index: string, value: string) =>
    releases.filter(({ metadata, spec }) => `${metadata.namespace}/${spec.tranche?.downtime?.group}` === value)
  const cluster = {
    batchReleases: { store: { byIndex } },
    overlay: { batchReleases: { get: find }, daemonSets: { get: daemonSetOf } },
  } as never
  return createGroupPort({ client, cluster, clock, groups: groups ?? undefined })
}

function release(downtime: object = { group: 'agents' }, name = 'agent', namespace = 'demo'): BatchRelease {
  const metadata = { namespace, name, uid: name, resourceVersion: '1' }
  const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name }
  return { metadata, spec: { workloadRef, releasePlan: { enableExtraWorkloadForCanary: false }, tranche: { downtime } } }
}

function lease(holderIdentity: string, annotations: Readonly<Record<string, string>> = {}): Lease {
  const metadata = { namespace: 'tranche', name: 'tranche-group.demo.agents', uid: 'lease', resourceVersion: '7', annotations }
  return { metadata, spec: { holderIdentity } }
}
