import { describe, expect, it } from 'vitest'
import { createBench, type BenchOptions } from './bench.ts'

/** One pass over a cluster that no pass has seen. `want`: pods created, pods deleted, events. */
interface Case extends BenchOptions {
  readonly name: string
  readonly want: string
}

const five = numbered(5)
const seven = numbered(7, (at) => (at < 3 ? 'pool=blue' : ''))
const ten = numbered(10, (at) => (at < 5 ? '' : 'pool=blue'))
const blue = { nodeSelector: { pool: 'blue' } }
const tolerant = { tolerations: [{ key: 'gpu', operator: 'Exists' }] }

const cases: readonly Case[] = [
  { name: '1 runs on every node', nodes: five, want: '5/0/0' },
  { name: '2 creates one pod per node, whichever scheduler binds it', nodes: five, want: '5/0/0' },
  { name: '3 does nothing without nodes', nodes: [], want: '0/0/0' },
  { name: '4 runs on one node', nodes: numbered(1), want: '1/0/0' },
  { name: '5 runs on a node that is not ready', nodes: ['n0 NotReady'], want: '1/0/0' },
  { name: '6 runs on a node without network', nodes: ['n0 NetworkUnavailable'], want: '1/0/0' },
  {
    name: '7 leaves it to the scheduler whether there is room',
    nodes: ['n0'],
    podSpec: needing('900'),
    pods: ['n0 unrelated'],
    want: '1/0/0',
  },
  {
    name: '8 runs on the big node that it selects, beside a small one',
    nodes: ['small', 'big pool=blue'],
    podSpec: { ...needing('8'), ...blue },
    want: '1/0/0',
  },
  { name: '10 runs beside a pod with another port', nodes: ['n0'], podSpec: listening(80), pods: ['n0 unrelated port=81'], want: '1/0/0' },
  { name: '11 leaves its own pod alone, which has its port', nodes: ['n0'], podSpec: listening(80), pods: ['n0 port=80'], want: '0/0/0' },
  { name: '12 deals with existing pods', nodes: five, pods: ['n1', 'n2*2', 'n3*5', 'n4*2 foreign'], want: '2/5/0' },
  { name: '13 runs on the nodes selected', nodes: seven, podSpec: blue, want: '3/0/0' },
  {
    name: '14 removes pods from nodes not selected',
    nodes: ten,
    podSpec: blue,
    pods: ['n0*2 foreign', 'n1*3', 'n1 foreign', 'n4'],
    want: '5/4/0',
  },
  {
    name: '15 deals with existing pods where nodes are selected',
    nodes: ten,
    podSpec: blue,
    pods: ['n0', 'n1*3', 'n1*2 foreign', 'n2*4', 'n6*13', 'n7*4 foreign', 'n9', 'n9 foreign'],
    want: '3/20/0',
  },
  { name: '16 does nothing when no node matches', nodes: five, podSpec: blue, want: '0/0/0' },
  { name: '17 runs on the node it names', nodes: five, podSpec: { nodeName: 'n0' }, want: '1/0/0' },
  { name: '18 does nothing when the node it names is absent', nodes: five, podSpec: { nodeName: 'n9' }, want: '0/0/0' },
  { name: '19 runs where name and selector agree', nodes: seven, podSpec: { ...blue, nodeName: 'n0' }, want: '1/0/0' },
  { name: '20 does nothing where they disagree', nodes: seven, podSpec: { ...blue, nodeName: 'n6' }, want: '0/0/0' },
  { name: '21 runs on the nodes of its affinity', nodes: seven, podSpec: affinity('pool', 'blue'), want: '3/0/0' },
  { name: '28 leaves a running pod on a node tainted NoSchedule', nodes: ['n0 !gpu:NoSchedule'], pods: ['n0'], want: '0/0/0' },
  { name: '29 removes a running pod from a node tainted NoExecute', nodes: ['n0 !gpu:NoExecute'], pods: ['n0'], want: '0/1/0' },
  { name: '30 does not run on a tainted node', nodes: ['n0 !gpu:NoSchedule'], want: '0/0/0' },
  { name: '31 runs on a tainted node when it tolerates', nodes: ['n0 !gpu:NoSchedule'], podSpec: tolerant, want: '1/0/0' },
  { name: '32 tolerates what is not there', nodes: ['n0'], podSpec: tolerant, want: '1/0/0' },
  { name: '33 runs on a node tainted not-ready', nodes: ['n0 NotReady !node.kubernetes.io/not-ready:NoExecute'], want: '1/0/0' },
  { name: '34 runs on a node tainted unreachable', nodes: ['n0 !node.kubernetes.io/unreachable:NoExecute'], want: '1/0/0' },
  {
    name: '35 runs on a node under pressure',
    nodes: [`n0 ${['disk', 'memory', 'pid'].map((what) => `!node.kubernetes.io/${what}-pressure:NoSchedule`).join(' ')}`],
    want: '1/0/0',
  },
  { name: '37 leaves one good pod alone', nodes: numbered(1), pods: ['n0'], want: '0/0/0' },
  { name: '38 creates where there is no pod, failed or not', nodes: numbered(1), want: '1/0/0' },
  { name: '39 deletes a failed pod, and creates only in the next pass', nodes: numbered(1), pods: ['n0 failed'], want: '0/1/1' },
  { name: '40 deletes a failed pod and duplicates', nodes: numbered(1), pods: ['n0 failed', 'n0*3'], want: '0/3/1' },
  { name: 'deletes a succeeded pod', nodes: numbered(1), pods: ['n0 succeeded'], want: '0/1/1' },
  { name: '44 waits for a pod that is terminating', nodes: numbered(1), pods: ['n0 terminating'], want: '0/0/0' },
  {
    name: '45 does not wait for one that has ended and is terminating',
    nodes: numbered(1),
    pods: ['n0 failed terminating'],
    want: '1/0/0',
  },
  { name: '46 deletes only the unbound pod of a missing node', nodes: [], pods: ['gone', 'lost unbound'], want: '0/1/0' },
]

describe.each([
  ['OnDelete', { type: 'OnDelete' }],
  ['RollingUpdate', { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } }],
])('one pass with %s', (_type, updateStrategy) => {
  it.each(cases)('$name', async ({ want, ...options }) => {
    expect(await (await createBench({ ...options, spec: { updateStrategy } })).pass()).toBe(want)
  })
})

const surgeCases: readonly Case[] = [
  { name: '83 deals with existing pods', nodes: five, pods: ['n1', 'n2*2', 'n3*5', 'n4*2 foreign'], want: '2/5/0' },
  {
    name: '84 keeps ready old pods beside new ones that are not ready',
    nodes: five,
    pods: ['n1 unready', 'n2 unready', 'n3 unready', 'n3 old', 'n4 old', 'n4 old', 'n4 unready'],
    want: '1/1/0',
  },
  {
    name: '86 deletes old pods that are not ready beside new ones',
    nodes: numbered(1),
    pods: ['n0 old unready', 'n0 old', 'n0 unready'],
    want: '0/2/0',
  },
  {
    name: '87 keeps a ready old pod while the new one is not available yet',
    nodes: numbered(1),
    spec: { minReadySeconds: 15 },
    pods: ['n0 old', 'n0 readyFor=10'],
    want: '0/0/0',
  },
  {
    name: '88 deletes a ready old pod once the new one is available',
    nodes: numbered(1),
    spec: { minReadySeconds: 15 },
    pods: ['n0 old', 'n0 readyFor=20'],
    want: '0/1/0',
  },
  {
    name: '88 available is a new pod from the very second on',
    nodes: numbered(1),
    spec: { minReadySeconds: 15 },
    pods: ['n0 old', 'n0 readyFor=15'],
    want: '0/1/0',
  },
  { name: 'creates beside a pod that is terminating', nodes: numbered(1), pods: ['n0 old terminating'], want: '1/0/0' },
  { name: 'deletes a failed pod and creates in the same pass', nodes: numbered(1), pods: ['n0 failed'], want: '1/1/1' },
  { name: 'creates none where a pod may only stay', nodes: ['n0 !gpu:NoSchedule'], pods: ['n0 terminating'], want: '0/0/0' },
  {
    name: 'keeps one pod of each kind, the oldest',
    nodes: numbered(1),
    pods: ['n0 old', 'n0 old', 'n0 unready', 'n0 unready'],
    want: '0/2/0',
  },
  {
    name: 'a new pod joins an old one that is not ready, whatever the limit',
    nodes: five,
    pods: five.map((name) => `${name} old unready`),
    want: '5/0/0',
  },
  {
    name: 'takes an old pod that is not ready away from where none should run',
    nodes: ['n0 !gpu:NoSchedule'],
    pods: ['n0 old unready'],
    want: '0/1/0',
  },
  {
    name: 'sets pods aside as far as more are available than desired',
    nodes: ['n0 !gpu:NoSchedule', 'n1 !gpu:NoSchedule', 'n2', 'n3'],
    pods: ['n0 old', 'n1 old', 'n2'],
    want: '1/1/0',
  },
  {
    name: 'sets none aside while fewer are available',
    nodes: ['n0 !gpu:NoSchedule', 'n1', 'n2'],
    pods: ['n0 old', 'n1', 'n2 unready'],
    want: '0/0/0',
  },
]

describe('one pass with surge', () => {
  it.each(surgeCases)('$name', async ({ want, spec, ...options }) => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
    expect(await (await createBench({ ...options, spec: { ...spec, updateStrategy } })).pass()).toBe(want)
  })

  it('85 creates pods where the old pod is gone, although the limit is used up', async () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 2 } }
    const pods = ['n0 old', 'n0 unready', 'n1 old', 'n1 unready', 'n2 old', 'n3 old', 'n4 old terminating']
    const bench = await createBench({ nodes: five, pods, spec: { updateStrategy } })
    expect(await bench.passes(2)).toEqual(['1/0/0', '0/0/0'])
  })

  it('fails and writes its status while an old pod is bound to a missing node', async () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
    const bench = await createBench({ nodes: ['n1'], pods: ['n0 old', 'n1'], spec: { updateStrategy } })
    await expect(bench.pass()).rejects.toThrow('couldn\'t get node for nodeName "n0"')
    expect((await bench.daemonSet()).status).toMatchObject({ desiredNumberScheduled: 1, numberAvailable: 1 })
  })
})

function needing(cpu: string): object {
  return { containers: [{ name: 'agent', image: 'agent:v1', resources: { requests: { cpu } } }] }
}

function listening(hostPort: number): object {
  return { containers: [{ name: 'agent', image: 'agent:v1', ports: [{ containerPort: hostPort, hostPort }] }] }
}

function affinity(key: string, value: string): object {
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }]
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }
}

function numbered(count: number, words: (at: number) => string = () => ''): readonly string[] {
  return Array.from({ length: count }, (_, at) => `n${at} ${words(at)}`.trim())
}
