import type { Node, Pod } from '@tranche/kube-types'
import { type ClusterCapacities, createCapacityLedger, planBinding } from '@tranche/sim-controllers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { node } from './builders.ts'

const NO_CLAIMS = 'no new claims to deallocate, preemption:'

describe('planBinding', () => {
  it.each<[name: string, pod: string, nodes: readonly string[], pods: readonly string[], want: string]>([
    ['binds a pod to the node it names', 'p @b', ['a', 'b'], [], 'b'],
    ['takes the emptiest node', 'p cpu=1', ['a', 'b', 'c'], ['x on=a cpu=1', 'y on=c cpu=2'], 'b'],
    ['takes the node with fewer pods, then the first by name', 'p', ['a', 'b', 'c'], ['x on=a'], 'b'],
    ['counts what is used', 'p @a cpu=2', ['a'], ['x on=a cpu=2'], 'a'],
    [
      'knows of a node that does not exist',
      'p @z',
      ['a', 'b', 'c'],
      [],
      `0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. ${NO_CLAIMS} 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`,
    ],
    [
      'counts what it lacks, where other pods going would not help',
      'p @a memory=100',
      ['a', 'b', 'c'],
      [],
      `0/3 nodes are available: 1 Insufficient memory, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. ${NO_CLAIMS} 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`,
    ],
    [
      'counts what it lacks, where only pods of its own priority could go',
      'p @a cpu=3',
      ['a', 'b'],
      ['x on=a cpu=2'],
      `0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. ${NO_CLAIMS} 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.`,
    ],
    [
      'reports every shortage of every node',
      'p cpu=100 memory=100',
      ['a', 'b'],
      [],
      `0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory. ${NO_CLAIMS} 0/2 nodes are available: 2 Preemption is not helpful for scheduling.`,
    ],
    [
      'lets one pod have a host port',
      'p @a port=8080',
      ['a', 'b'],
      ['x on=a port=8080'],
      `0/2 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. ${NO_CLAIMS} 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.`,
    ],
    [
      'tells apart taints, cordons and selectors',
      'p zone=x',
      ['a !gpu', 'b cordoned', 'c'],
      [],
      `0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. ${NO_CLAIMS} 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`,
    ],
    [
      'lets a node have as many pods as it says',
      'p @a',
      ['a pods=1'],
      ['x on=a'],
      `0/1 nodes are available: 1 Too many pods. ${NO_CLAIMS} 0/1 nodes are available: 1 No preemption victims found for incoming pod.`,
    ],
    ['has nothing to say without nodes', 'p', [], [], 'no nodes available to schedule pods'],
    [
      'keeps away from pods that it does not like',
      'p app=p not=web',
      ['a host=a'],
      ['x on=a app=web'],
      `0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. ${NO_CLAIMS} 0/1 nodes are available: 1 No preemption victims found for incoming pod.`,
    ],
    [
      'keeps away from pods that do not like it',
      'p app=p',
      ['a host=a'],
      ['x on=a not=p'],
      `0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules. ${NO_CLAIMS} 0/1 nodes are available: 1 No preemption victims found for incoming pod.`,
    ],
    ['goes where its friends are', 'p app=p near=web', ['a host=a', 'b host=b'], ['x on=b app=web'], 'b'],
    ['begins a series of its own kind', 'p app=p near=p', ['a host=a', 'b host=b'], [], 'a'],
    ['spreads over domains', 'p app=p spread', ['a host=a', 'b host=b'], ['x on=a app=p', 'y on=b app=q', 'z on=b app=q'], 'b'],
    ['does not count nodes it could not go to when it spreads', 'p @a app=p spread', ['a host=a', 'b host=b'], ['x on=a app=p'], 'a'],
  ])('%s', (_name, words, nodes, pods, want) => {
    const plan = planBinding(aPod(words), cluster(nodes, pods))
    expect(plan.kind === 'bind' ? plan.nodeName : plan.message).toBe(want)
  })

  it('counts init containers, sidecars and overhead as they run', () => {
    const containers = [limited({ cpu: '1' })]
    const initContainers = [limited({ cpu: '500m' }, { restartPolicy: 'Always' }), limited({ cpu: '2' })]
    const fits = (overhead: string): boolean =>
      planBinding(aPod('p', { containers, initContainers, overhead: { cpu: overhead } }), cluster(['a'], [])).kind === 'bind'
    expect([fits('1500m'), fits('1600m')]).toEqual([true, false])
  })
})

describe('preemption', () => {
  it.each<[name: string, pod: string, pods: readonly string[], want: string]>([
    [
      'takes the place of the least important, and no more than it needs',
      'p @a cpu=3 prio=5',
      ['x on=a cpu=2 prio=1', 'y on=a cpu=2 prio=2'],
      'a: x y',
    ],
    ['leaves those that fit beside it', 'p @a cpu=2 prio=5', ['x on=a cpu=2 prio=1', 'y on=a cpu=2 prio=2'], 'a: x'],
    ['preempts no pod of its own priority', 'p @a cpu=3 prio=5', ['x on=a cpu=2 prio=5'], 'none'],
    ['preempts no pod when it may not', 'p @a cpu=3 prio=5 never', ['x on=a cpu=2 prio=1'], 'none'],
    ['chooses the node with the less important victim', 'p cpu=3 prio=5', ['x on=a cpu=2 prio=2', 'y on=b cpu=2 prio=1'], 'b: y'],
    ['spares pods whose budget is used up', 'p cpu=3 prio=5', ['x on=a cpu=2 prio=1 guarded', 'y on=b cpu=2 prio=2'], 'b: y'],
    ['takes a port from a less important pod', 'p @a port=80 prio=5', ['x on=a port=80'], 'a: x'],
  ])('%s', (_name, words, pods, want) => {
    const plan = planBinding(aPod(words), cluster(['a', 'b'], pods))
    const made = plan.kind === 'unschedulable' ? plan.preemption : null
    const names = made?.victims.map(({ metadata }) => metadata.name).sort()
    expect(made === null ? 'none' : `${made.nodeName}: ${names?.join(' ')}`).toBe(want)
  })

  it('waits for terminating pods before it evicts more', () => {
    const pod = { ...aPod('p @a cpu=3 prio=5'), status: { nominatedNodeName: 'a' } as Pod['status'] } as Pod
    const plan = planBinding(pod, cluster(['a'], ['x on=a cpu=2 preempted']))
    expect(plan).toMatchObject({
      preemption: null,
      message: expect.stringContaining('not eligible due to a terminating pod on the nominated node.'),
    })
  })

  it('reserves the capacity for the pod that caused it', () => {
    const promised = { ...cluster(['a'], []), nominated: () => [aPod('q @a cpu=3 prio=5')] }
    expect(planBinding(aPod('p @a cpu=2 prio=1'), promised).kind).toBe('unschedulable')
    expect(planBinding(aPod('p @a cpu=2 prio=9'), promised).kind).toBe('bind')
  })
})

describe('the capacity ledger', () => {
  it('is independent of the order of nodes and pods', () => {
    const moves = ['+a', '+b', '-a', 'x on=a cpu=1', 'x on=a cpu=1 ended', 'y on=b cpu=2', 'y gone', 'z on=a memory=1', 'z gone']
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...moves), { maxLength: 20 }), (sequence) => {
        const ledger = createCapacityLedger()
        const nodes = new Set<string>()
        const pods = new Map<string, Pod>()
        for (const move of sequence) {
          const name = move.slice(1)
          if (move.startsWith('+')) {
            nodes.add(name)
            ledger.putNode(aNode(name))
          } else if (move.startsWith('-')) {
            nodes.delete(name)
            ledger.removeNode(name)
          } else if (move.endsWith('gone')) {
            const pod = pods.get(move[0]!)
            if (pod !== undefined) ledger.removePod(pod)
            pods.delete(move[0]!)
          } else {
            pods.set(move[0]!, aPod(move))
            ledger.putPod(aPod(move))
          }
        }
        const fresh = createCapacityLedger()
        for (const name of nodes) fresh.putNode(aNode(name))
        for (const pod of pods.values()) fresh.putPod(pod)
        for (const name of ['a', 'b']) expect(contentOf(ledger.get(name))).toEqual(contentOf(fresh.get(name)))
      }),
    )
  })
})

function contentOf(capacity: ReturnType<ReturnType<typeof createCapacityLedger>['get']>): unknown {
  if (capacity === undefined) return undefined
  const used = [...capacity.used].filter(([, amount]) => amount !== 0).sort()
  return { pods: [...capacity.pods.keys()].sort(), used }
}

/** Nodes as words: a name, `!taint`, `cordoned`, `host=name`, `pods=n`; pods as in {@link aPod}, bound by `on=node`. */
function cluster(nodes: readonly string[], pods: readonly string[]): ClusterCapacities {
  const ledger = createCapacityLedger()
  for (const words of nodes) ledger.putNode(aNode(words))
  for (const words of pods) ledger.putPod(aPod(words))
  return {
    size: ledger.size,
    hasAntiAffinity: ledger.hasAntiAffinity,
    get: (name) => ledger.get(name),
    values: () => ledger.values(),
    nominated: () => [],
    disruptionsAllowed: ({ metadata }) => (metadata.labels?.['guarded'] === undefined ? undefined : 0),
  }
}

function aNode(words: string): Node {
  const [name = '', ...rest] = words.split(' ')
  const taints = rest.filter((word) => word.startsWith('!')).map((word) => ({ key: word.slice(1), effect: 'NoSchedule' }))
  const plain = node(name, labelsOf(rest), taints)
  const allocatable = { cpu: '4', memory: '8', pods: wordOf(rest, 'pods') ?? '110' }
  return {
    ...plain,
    spec: { ...plain.spec, ...(rest.includes('cordoned') && { unschedulable: true }) },
    status: { ...plain.status, allocatable } as Node['status'],
  } as Node
}

/** A pod as words: a name, `@node` by affinity, `on=node`, `cpu=` `memory=` `port=` `prio=`, `app=`, `not=` `near=` another's app, `spread`. */
function aPod(words: string, spec: object = {}): Pod {
  const [name = '', ...rest] = words.split(' ')
  const pinned = rest.find((word) => word.startsWith('@'))?.slice(1)
  const [cpu, memory, port, zone] = ['cpu', 'memory', 'port', 'zone'].map((key) => wordOf(rest, key))
  const requests = { ...(cpu && { cpu }), ...(memory && { memory }) }
  const term = (app: string | undefined): object | undefined =>
    app === undefined
      ? undefined
      : { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'host', labelSelector: { matchLabels: { app } } }] }
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [pinned] }] }],
    },
  }
  const spread = { maxSkew: 1, topologyKey: 'host', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'p' } } }
  const marks = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }]
  return {
    metadata: {
      name,
      namespace: 'demo',
      uid: name,
      resourceVersion: '1',
      labels: { ...labelsOf(rest), ...(rest.includes('guarded') && { guarded: 'yes' }) },
      ...(rest.includes('preempted') && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      nodeName: wordOf(rest, 'on'),
      priority: Number(wordOf(rest, 'prio') ?? 0),
      ...(rest.includes('never') && { preemptionPolicy: 'Never' }),
      ...(zone && { nodeSelector: { zone } }),
      affinity: {
        ...(pinned !== undefined && { nodeAffinity }),
        ...(term(wordOf(rest, 'near')) && { podAffinity: term(wordOf(rest, 'near')) }),
        ...(term(wordOf(rest, 'not')) && { podAntiAffinity: term(wordOf(rest, 'not')) }),
      },
      ...(rest.includes('spread') && { topologySpreadConstraints: [spread] }),
      containers: [{ name: 'main', resources: { requests }, ...(port && { ports: [{ hostPort: Number(port) }] }) }],
      ...spec,
    },
    status: { phase: rest.includes('ended') ? 'Failed' : 'Running', ...(rest.includes('preempted') && { conditions: marks }) },
  } as unknown as Pod
}

function limited(requests: object, parts: object = {}): object {
  return { name: 'main', resources: { requests }, ...parts }
}

function wordOf(words: readonly string[], key: string): string | undefined {
  return words.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1)
}

function labelsOf(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(words.filter((word) => /^(?:app|host)=/.test(word)).map((word) => word.split('=')))
}
