import { expect, it } from 'vitest'
import { checkFindings } from '../src/checks/check-findings.ts'
import type { GuardedReads } from '../src/signs/guarded-reads.ts'
import { readLeftWork, type RunningSigns } from '../src/signs/left-work-signs.ts'
import { command, denied, NOW_MS, pod, well } from './doctor-signs.ts'

const runs: RunningSigns = { leader: well.leader, installed: well.installed, rollouts: well.rollouts, serverMs: NOW_MS }
const mark = JSON.stringify({ namespace: 'demo', name: 'node-agent', uid: 'u', podUid: 'p', podResourceVersion: '7', cordoned: true })

it.each<[sentence: string, signs: Partial<RunningSigns>]>([
  ['a controller leads and an executor is there', {}],
  ['a controller leads and the chart has no pods', { installed: [] }],
  ['the Lease may not be read', { leader: denied }],
  ['a controller without leader election handles all Rollouts', { leader: null }],
])('nothing is looked for where %s', async (_sentence, signs) => {
  const asked: string[] = []
  expect(await readLeftWork(reader(asked), { ...runs, ...signs })).toBeNull()
  expect(asked).toEqual([])
})

it.each<[sentence: string, signs: Partial<RunningSigns>, leases: number]>([
  ['no controller has ever led', { leader: null, rollouts: [] }, 1],
  ['the controller has given its Lease up', { leader: { holder: '', renewedMs: NOW_MS, lengthMs: 15_000 } }, 1],
  ['the Lease of the controller has expired', { serverMs: NOW_MS + 60_000 }, 1],
  ['the chart has no executor; groups are left to the controller', { installed: [pod('controller')] }, 0],
])('what is left is found where %s', async (_sentence, signs, leases) => {
  const found = await readLeftWork(reader([]), { ...runs, ...signs })
  expect(found).toEqual({
    nodes: [
      { name: 'drained', isCordoned: true },
      { name: 'freed', isCordoned: false },
      { name: 'forged', isCordoned: false },
      { name: 'cordoned again', isCordoned: false },
      { name: 'shown', isCordoned: true, condition: 'marked' },
      { name: 'shown still', isCordoned: false, condition: 'alone' },
    ],
    helpers: [{ namespace: 'demo', name: 'helper' }],
    leases: Array(leases).fill({ namespace: 'tranche-system', name: 'group' }),
  })
})

it('what may not be read is unknown', () => {
  const found = checkFindings({ ...well, leftWork: { nodes: denied, helpers: denied, leases: denied } }, command)
  expect(found.filter(({ check }) => check === 'left').map(({ state }) => state)).toEqual(['unknown', 'unknown', 'unknown'])
})

it('a condition that is left is removed by a command, and a node without a mark has no other', () => {
  const nodes = [
    { name: 'a', isCordoned: true, condition: 'marked' },
    { name: 'b', isCordoned: false, condition: 'alone' },
  ] as const
  const found = checkFindings({ ...well, leftWork: { nodes, helpers: [], leases: [] } }, command).filter(({ check }) => check === 'left')
  expect(found.map((one) => one.command)).toEqual([
    'kubectl uncordon a && kubectl annotate nodes a tranche.dev/cordon-',
    `kubectl patch nodes a b --subresource=status -p '{"status":{"conditions":[{"type":"DrainInProgress","$patch":"delete"}]}}'`,
  ])
})

it('a command covers fifty nodes and says so, and several namespaces', () => {
  const nodes = Array.from({ length: 60 }, (_, at) => ({ name: `n${at}`, isCordoned: true, condition: 'marked' as const }))
  const helpers = ['demo', 'other'].map((namespace) => ({ namespace, name: 'helper' }))
  const found = checkFindings({ ...well, leftWork: { nodes, helpers, leases: [] } }, command).filter(({ check }) => check === 'left')
  expect(found[0]?.message).toContain('60 nodes, such as n0')
  expect(found[0]?.command?.split('&&')[0]?.trim().split(' ')).toHaveLength(2 + 50)
  expect(found[0]?.fix).toMatch(/, 50 at a time; run doctor again for the others:$/)
  expect(found[1]?.fix).toBe('Start the executors again; or remove the condition, 50 at a time; run doctor again for the others:')
  expect(found[2]?.command).toBe('kubectl delete pods -A -l tranche.dev/pre-pull')
})

const shows = (reason: string): object => ({ conditions: [{ type: 'DrainInProgress', status: 'True', reason }] })
const byUser = { manager: 'kubectl', fieldsV1: { 'f:spec': { 'f:unschedulable': {} } } }

/** A cluster with a node that an executor cordoned, some that a user has changed since, and one whose mark is forged. */
function reader(asked: string[]): { readonly reads: GuardedReads; readonly namespaces: readonly string[] } {
  const objects: Record<string, readonly object[]> = {
    nodes: [
      { metadata: { name: 'other' }, spec: { unschedulable: true } },
      { metadata: { name: 'drained', annotations: { 'tranche.dev/cordon': mark } }, spec: { unschedulable: true } },
      { metadata: { name: 'freed', annotations: { 'tranche.dev/cordon': mark } }, spec: {} },
      { metadata: { name: 'forged', annotations: { 'tranche.dev/cordon': 'x' } }, spec: { unschedulable: true } },
      {
        metadata: { name: 'cordoned again', annotations: { 'tranche.dev/cordon': mark }, managedFields: [byUser] },
        spec: { unschedulable: true },
      },
      {
        metadata: { name: 'shown', annotations: { 'tranche.dev/cordon': mark } },
        spec: { unschedulable: true },
        status: shows('TrancheDrain'),
      },
      { metadata: { name: 'shown still' }, spec: {}, status: shows('TrancheDrain') },
      { metadata: { name: 'of another' }, spec: {}, status: shows('NodeMaintenance') },
    ],
    pods: [{ metadata: { namespace: 'demo', name: 'helper' } }],
    leases: [{ metadata: { namespace: 'tranche-system', name: 'group' } }],
  }
  const list = async ({ plural }: { readonly plural: string }, options: { readonly transform: (object: object) => unknown }) => {
    asked.push(plural)
    return { items: (objects[plural] ?? []).map(options.transform).filter((one) => one !== null) }
  }
  return { reads: { list } as never, namespaces: [] }
}
