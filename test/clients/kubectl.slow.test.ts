import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentManifest, type Cluster, startCluster } from './cluster.ts'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { type Ended, runProgram, type RunOptions } from './run-program.ts'

const isMissing = !kubectlForTests()

describe.skipIf(isMissing)('kubectl', () => {
  let cluster: Cluster

  beforeAll(async () => {
    cluster = await startCluster(3)
    await kubectl('create -f -', { input: JSON.stringify(agentManifest('v1')) })
    await kubectl('rollout status ds/agent --timeout=20s')
  })

  afterAll(() => cluster.end())

  it('lists all resources, and those of category all', async () => {
    const { stdout } = await kubectl('api-resources --no-headers --sort-by=name')
    expect(words(stdout)).toContain('daemonsets ds apps/v1 true DaemonSet')
    expect(words(stdout)).toContain('rollouts trollout rollouts.kruise.io/v1beta1 true Rollout')
    const all = await kubectl('api-resources --categories=all -o name')
    expect(all.stdout.trimEnd().split('\n')).toEqual(['pods', 'services', 'daemonsets.apps', 'deployments.apps'])
    expect((await kubectl('api-versions')).stdout).toContain('apps/v1\n')
  })

  it('explains a field of a custom resource', async () => {
    const { stdout } = await kubectl('explain rollout.spec.strategy.canary.steps')
    expect(words(stdout)).toContain('GROUP: rollouts.kruise.io')
    expect(words(stdout)).toContain('FIELD: steps <[]Object>')
    expect(words(stdout)).toContain('Cumulative number of nodes after the step: a whole number from 1, or a')
  })

  it('explains a built-in kind recursively', async () => {
    const { stdout } = await kubectl('explain daemonset --recursive')
    expect(words(stdout)).toContain('rollingUpdate <RollingUpdateDaemonSet>')
    expect(words(stdout)).toContain('maxUnavailable <IntOrString>')
  })

  it('creates nothing in a dry run', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tried' } }
    const tried = await kubectl('create --dry-run=server -f -', { input: JSON.stringify(object) })
    expect(tried.stdout).toBe('configmap/tried created (server dry run)\n')
    expect((await kubectl('get configmap tried')).stderr).toBe('Error from server (NotFound): configmaps "tried" not found\n')
  })

  it('shows the difference between a manifest and the cluster', async () => {
    const { code, stdout } = await kubectl('diff -f -', { input: JSON.stringify(agentManifest('v9')) })
    expect(code).toBe(1)
    expect(stdout).toMatch(/-\s+- image: agent:v1\n\+\s+- image: agent:v9/)
    expect((await kubectl('diff -f -', { input: JSON.stringify(agentManifest('v1')) })).code).toBe(0)
  })

  it('applies a list that it has read, and the server validates every object in it', async () => {
    const listed = await kubectl('get daemonsets -o json')
    expect((await kubectl('apply -f -', { input: listed.stdout })).stdout).toBe('daemonset.apps/agent configured\n')
    const wrong = listed.stdout.replace('"template":', '"replicas": 3, "template":')
    expect((await kubectl('apply -f -', { input: wrong })).stderr).toContain('unknown field "spec.replicas"')
  })

  it('rejects a manifest with an unknown field', async () => {
    const { spec, ...manifest } = agentManifest('v1')
    const { stderr } = await kubectl('apply -f -', { input: JSON.stringify({ ...manifest, spec: { ...spec, replicas: 3 } }) })
    expect(stderr).toContain('unknown field "spec.replicas"')
  })

  it('shows tables, narrow and wide, with labels', async () => {
    expect(words((await kubectl('get ds,nodes')).stdout)).toEqual(
      expect.arrayContaining([
        'NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE SELECTOR AGE',
        expect.stringMatching(/^daemonset.apps\/agent 3 3 3 3 3 <none> \d+s$/),
        expect.stringMatching(/^node\/node-001 Ready <none> \d+s v1\.36\.2$/),
      ]),
    )
    const [head = '', row = ''] = words((await kubectl('get pods -o wide --show-labels')).stdout)
    expect(head).toBe('NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES LABELS')
    expect(row).toMatch(/^agent-\w{5} 1\/1 Running 0 \d+s [\d.]+ node-00\d <none> <none> app=agent,controller-revision-hash=/)
  })

  it('streams events from the first one', async () => {
    const { stdout } = await kubectl('get events -w', { until: (said) => said.includes('SuccessfulCreate') })
    expect(stdout).toMatch(/^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n/)
    expect(stdout).toMatch(/Normal +SuccessfulCreate +daemonset\/agent +Created pod: agent-\w{5}/)
    expect((await kubectl('events --for ds/agent')).stdout).toContain('SuccessfulCreate')
  })

  it('describes a node, a DaemonSet and a pod', async () => {
    expect((await kubectl('describe node node-001')).stdout).toMatch(/Non-terminated Pods: +\(1 in total\)/)
    expect((await kubectl('describe ds agent')).stdout).toContain('Number of Nodes Scheduled with Available Pods: 3')
    expect((await kubectl('describe pod -l app=agent')).stdout).toMatch(/Controlled By: +DaemonSet\/agent/)
  })

  it('follows a new version, shows its history and rolls it back', async () => {
    await kubectl('set image ds/agent main=agent:v2')
    const followed = await kubectl('rollout status ds/agent --timeout=20s')
    expect(followed.stdout.trimEnd().split('\n').at(-1)).toBe('daemon set "agent" successfully rolled out')
    expect(words((await kubectl('rollout history ds/agent')).stdout)).toEqual(
      expect.arrayContaining(['REVISION CHANGE-CAUSE', '1 <none>', '2 <none>']),
    )
    expect((await kubectl('rollout undo ds/agent')).stdout).toBe('daemonset.apps/agent rolled back\n')
    await kubectl('rollout status ds/agent --timeout=20s')
    expect((await kubectl("get ds agent -o jsonpath='{.spec.template.spec.containers[0].image}'")).stdout).toBe('agent:v1')
    const waited = await kubectl("wait ds/agent --for=jsonpath='{.status.updatedNumberScheduled}'=3 --timeout=20s")
    expect(waited.stdout).toBe('daemonset.apps/agent condition met\n')
  })

  it('labels, annotates, edits and taints', async () => {
    expect((await kubectl('label node node-001 disk=ssd')).stdout).toBe('node/node-001 labeled\n')
    expect((await kubectl('annotate ds agent note=seen')).stdout).toBe('daemonset.apps/agent annotated\n')
    const edited = await kubectl('edit ds agent', { env: { KUBE_EDITOR: "sed -i 's/note: seen/note: edited/'" } })
    expect(edited.stdout).toBe('daemonset.apps/agent edited\n')
    expect((await kubectl('taint node node-001 a=b:NoSchedule')).stdout).toBe('node/node-001 tainted\n')
    expect((await kubectl('taint node node-001 a-')).stdout).toBe('node/node-001 untainted\n')
  })

  it('cordons and drains a node except for its DaemonSets', async () => {
    const { code, stdout, stderr } = await kubectl('drain node-003 --ignore-daemonsets --timeout=20s')
    expect([code, stderr]).toEqual([0, expect.stringContaining('ignoring DaemonSet-managed Pods: default/agent-')])
    expect(stdout).toBe('node/node-003 cordoned\nnode/node-003 drained\n')
    expect(words((await kubectl('get node node-003')).stdout)[1]).toContain('Ready,SchedulingDisabled')
    expect((await kubectl('uncordon node-003')).stdout).toBe('node/node-003 uncordoned\n')
  })

  const sentAsProtobuf: Record<string, { readonly line: string; readonly path: string; readonly want: string }> = {
    'a Role': {
      line: 'role reader --verb=get --resource=pods',
      path: '{.rules}',
      want: '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]',
    },
    'a RoleBinding': {
      line: 'rolebinding readers --role=reader --serviceaccount=default:agent',
      path: '{.subjects}',
      want: '[{"kind":"ServiceAccount","name":"agent","namespace":"default"}]',
    },
    'a PodDisruptionBudget': { line: 'pdb half --selector=app=none --min-available=50%', path: '{.spec.minAvailable}', want: '50%' },
    'a ResourceQuota': { line: 'quota few --hard=pods=9', path: '{.spec.hard}', want: '{"pods":"9"}' },
    'a PriorityClass': { line: 'priorityclass urgent --value=7', path: '{.value}', want: '7' },
    'a ConfigMap': { line: 'configmap settings --from-literal=a=b', path: '{.data}', want: '{"a":"b"}' },
  }
  it.each(Object.entries(sentAsProtobuf))('creates %s, which it sends as protobuf', async (_name, { line, path, want }) => {
    const [kind = '', name = ''] = line.split(' ')
    expect((await kubectl(`create ${line}`)).stderr).toBe('')
    expect((await kubectl(`get ${kind} ${name} -o jsonpath='${path}'`)).stdout).toBe(want)
  })

  it('shows the permissions of users', async () => {
    expect((await kubectl('auth can-i create pods')).stdout).toBe('yes\n')
    expect((await kubectl('auth can-i create pods --as=outsider')).stdout).toBe('no\n')
    expect(words((await kubectl('auth whoami')).stdout)).toContain('Username admin')
  })

  it('gets clear errors for features that a simulated cluster lacks', async () => {
    expect((await kubectl('logs ds/agent')).stderr).toContain('pods/log is not served: containers do not run in a simulated cluster')
    expect((await kubectl('exec ds/agent -- ls')).stderr).toContain('pods/exec is not served')
    expect((await kubectl('top nodes')).stderr).toBe('error: Metrics API not available\n')
  })

  describe('server-side apply', () => {
    const settings = (data: object): RunOptions => ({
      input: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data }),
    })
    const managers = async (): Promise<readonly string[]> => {
      const { stdout } = await kubectl('get configmap applied -o json --show-managed-fields')
      const { metadata } = JSON.parse(stdout) as {
        readonly metadata: { readonly managedFields?: readonly Readonly<Record<string, unknown>>[] }
      }
      return (metadata.managedFields ?? []).map(({ operation, manager, fieldsV1 }) => `${operation} ${manager} ${JSON.stringify(fieldsV1)}`)
    }

    it('takes over fields that client-side apply owned', async () => {
      await kubectl('apply -f -', settings({ a: '1', b: '1' }))
      expect(await managers()).toEqual([expect.stringMatching(/^Update kubectl-client-side-apply /)])
      expect((await kubectl('get configmap applied -o yaml')).stdout).not.toContain('managedFields')
      const { stdout } = await kubectl('apply --server-side -f -', settings({ a: '2' }))
      expect(stdout).toBe('configmap/applied serverside-applied\n')
      expect(await managers()).toEqual([
        'Apply kubectl-last-applied {"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}',
        'Apply kubectl {"f:data":{"f:a":{}}}',
      ])
      expect((await kubectl("get configmap applied -o jsonpath='{.data}'")).stdout).toBe('{"a":"2"}')
    })

    it('shows conflicts with other managers, and takes fields over only by force', async () => {
      const { code, stderr } = await kubectl('apply --server-side --field-manager=ci -f -', settings({ a: '3' }))
      expect([code, stderr]).toEqual([1, expect.stringContaining('Apply failed with 1 conflict: conflict with "kubectl": .data.a')])
      await kubectl('apply --server-side --field-manager=ci --force-conflicts -f -', settings({ a: '3' }))
      expect(await managers()).toContain('Apply ci {"f:data":{"f:a":{}}}')
    })

    it('shows the difference before applying', async () => {
      const { stdout } = await kubectl('diff --server-side --field-manager=ci -f -', settings({ a: '4' }))
      expect(stdout).toContain('+  a: "4"')
      expect((await kubectl("get configmap applied -o jsonpath='{.data.a}'")).stdout).toBe('3')
    })
  })

  it('deletes a DaemonSet without its pods', async () => {
    expect((await kubectl('delete ds agent --cascade=orphan')).stdout).toBe('daemonset.apps "agent" deleted\n')
    const pods = await kubectl("get pods -l app=agent -o jsonpath='{.items[*].metadata.ownerReferences}'")
    expect([(await kubectl('get pods -l app=agent -o name')).stdout.trimEnd().split('\n').length, pods.stdout]).toEqual([3, ''])
  })

  /** @param line words as in a shell; quotes keep words together */
  function kubectl(line: string, options: RunOptions = {}): Promise<Ended> {
    const args = [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''))
    const env = { KUBECONFIG: cluster.kubeconfig, HOME: cluster.folder, ...options.env }
    return runProgram('kubectl', args, { ...options, env })
  }
})

/** Lines with single spaces between words. */
function words(text: string): readonly string[] {
  return text.split('\n').map((line) => line.trim().replace(/\s+/g, ' '))
}
