import { execFile } from 'node:child_process'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import type { DoctorFinding } from '@tranche/api-schema'
import { launch } from '@tranche/launcher'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { runProgram } from './run-program.ts'

const isMissing = !kubectlForTests()
const DRAIN_CONDITION = 'DrainInProgress'
const DRAIN_REASON = 'TrancheDrain'
const mark = JSON.stringify({ namespace: 'demo', name: 'agent', uid: 'u', podUid: 'p', podResourceVersion: '7', cordoned: true })

describe.skipIf(isMissing)('the commands that doctor prints for what removed executors left', () => {
  let cluster: Cluster

  beforeEach(async () => {
    cluster = await startCluster(3)
  })
  afterEach(() => cluster.end())

  it('remove all of it as they are printed, and leave the cordons and conditions of others', async () => {
    await leave()
    await kubectl('cordon node-003')
    await condition('node-003', 'NodeMaintenance')
    const found = await left()
    expect(found.map(({ command }) => command?.split(' ').slice(0, 3).join(' '))).toEqual([
      'kubectl uncordon node-001',
      'kubectl annotate nodes',
      'kubectl patch nodes',
      'kubectl delete pods',
      'kubectl delete leases',
    ])
    for (const { command = '' } of found) await sh(command)
    expect(await left()).toEqual([])
    expect(await nodes('{.spec.unschedulable}')).toBe('node-001= node-002= node-003=true')
    expect(await nodes(`{.status.conditions[?(@.type=="${DRAIN_CONDITION}")].reason}`)).toBe('node-001= node-002= node-003=NodeMaintenance')
    expect(await nodes('{.status.conditions[?(@.type=="Ready")].status}')).toBe('node-001=True node-002=True node-003=True')
  })

  /** What executors and a controller leave that were removed in mid-drain. */
  async function leave(): Promise<void> {
    await kubectl(`annotate node node-001 node-002 tranche.dev/cordon=${mark}`)
    // The API server keeps who has cordoned a node, and only an executor's own cordon is undone.
    await kubectl(`patch node node-001 --field-manager tranche-executor -p {"spec":{"unschedulable":true}}`)
    for (const node of ['node-001', 'node-002']) await condition(node, DRAIN_REASON)
    await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'demo' } })
    const spec = { nodeName: 'node-001', containers: [{ name: 'image-0', image: 'agent:v2' }] }
    await create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'demo', name: 'helper', labels: { 'tranche.dev/pre-pull': 'abc' } },
      spec,
    })
    const metadata = { namespace: 'demo', name: 'group', labels: { 'tranche.dev/group': 'agents' } }
    await create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: { holderIdentity: 'demo/agent/u' } })
  }

  async function condition(node: string, reason: string): Promise<void> {
    const body = JSON.stringify({ status: { conditions: [{ type: DRAIN_CONDITION, status: 'True', reason }] } })
    await kubectl(`patch node ${node} --subresource=status -p ${body}`)
  }

  async function left(): Promise<readonly DoctorFinding[]> {
    let out = ''
    const to = { write: (text: string) => void (out += text) }
    const args = ['doctor', '-o', 'json', '--kubeconfig', cluster.kubeconfig]
    await launch(args, { in: Readable.from([]), out: to, err: { write: () => undefined }, env: {} })
    return (JSON.parse(out) as readonly DoctorFinding[]).filter(({ check }) => check === 'left')
  }

  async function nodes(path: string): Promise<string> {
    const { stdout } = await kubectl(`get nodes -o jsonpath={range .items[*]}{.metadata.name}=${path}{" "}{end}`)
    return stdout.trim()
  }

  async function create(object: object): Promise<void> {
    await kubectl('create -f -', JSON.stringify(object))
  }

  /** @throws {Error} with the output of a failed command */
  async function kubectl(line: string, input = ''): Promise<{ readonly stdout: string }> {
    const [words, path] = line.split(' -o ')
    const args = [...(words ?? '').split(' '), ...(path === undefined ? [] : ['-o', path])]
    const ended = await runProgram('kubectl', args, { env: { KUBECONFIG: cluster.kubeconfig }, input })
    if (ended.code !== 0) throw new Error(`${line}: ${ended.stderr}`)
    return ended
  }

  /** @throws {Error} with the output of a failed command */
  async function sh(command: string): Promise<void> {
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command], { env: { ...process.env, KUBECONFIG: cluster.kubeconfig } })
  }
})
