import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentManifest, agentRollout, type Cluster, startCluster } from './cluster.ts'
import { type Programs, startPrograms } from './programs.ts'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { type Ended, runProgram, type RunOptions } from './run-program.ts'

const isMissing = !kubectlForTests()

describe.skipIf(isMissing)('kubectl, while Tranche releases a DaemonSet', () => {
  let cluster: Cluster
  let programs: Programs

  beforeAll(async () => {
    cluster = await startCluster(3)
    programs = await startPrograms(cluster)
    await kubectl('create -f -', { input: JSON.stringify(agentManifest('v1')) })
    await kubectl('rollout status ds/agent --timeout=20s')
    await kubectl('create -f -', { input: JSON.stringify(agentRollout) })
    await until('{.status.phase}', 'Healthy')
    await kubectl('set image ds/agent main=agent:v2')
    await untilPaused()
  })

  afterAll(async () => {
    await programs.stop()
    await cluster.end()
  })

  it("shows the state of the release in OpenKruise's columns", async () => {
    const rollouts = words((await kubectl('get rollouts')).stdout)
    expect(rollouts[0]).toBe('NAME STATUS CANARY_STEP CANARY_STATE MESSAGE AGE')
    expect(rollouts[1]).toMatch(/^agent Progressing 1 StepPaused step 1 of 2 \(1\) is ready and waits for approval since \S+ \d+s$/)
    const releases = words((await kubectl('get batchreleases')).stdout)
    expect(releases[0]).toBe('NAME KIND PHASE BATCH BATCH-STATE AGE')
    expect(releases[1]).toMatch(/^agent DaemonSet Progressing 0 Ready \d+s$/)
  })

  it.each([
    ['rollout status ds/agent', 'rollout status is only available for RollingUpdate strategy type'],
    ['rollout pause ds/agent', 'pausing is not supported'],
    ['rollout resume ds/agent', 'resuming is not supported'],
  ])('reports by itself what it does not support for such a DaemonSet: %s', async (line, says) => {
    const { code, stderr } = await kubectl(line)
    expect(code).toBe(1)
    expect(stderr).toContain(says)
  })

  it('shows the history, and rolls the new version back by undo', async () => {
    expect(words((await kubectl('rollout history ds/agent')).stdout)).toEqual(
      expect.arrayContaining(['REVISION CHANGE-CAUSE', '1 <none>', '2 <none>']),
    )
    expect((await kubectl('rollout undo ds/agent')).stdout).toBe('daemonset.apps/agent rolled back\n')
    await untilSettling()
    expect(await imagesOfPods()).toEqual(['agent:v1', 'agent:v1', 'agent:v1'])
  })

  it('starts an ordinary release by restart, which continues after an approval in a patch of the status', async () => {
    expect((await kubectl('rollout restart ds/agent')).stdout).toBe('daemonset.apps/agent restarted\n')
    await untilPaused()
    const body = '{"status":{"canaryStatus":{"currentStepState":"StepReady"}}}'
    const patched = await kubectl(`patch rollout agent --subresource=status --type=merge -p ${body}`)
    expect(patched.stdout).toBe('rollout.rollouts.kruise.io/agent patched\n')
    await untilSettling()
    expect((await kubectl("get ds agent -o jsonpath='{.status.updatedNumberScheduled}'")).stdout).toBe('3')
  })

  it('waits for the deletion of a Rollout, which restores the strategy', async () => {
    expect((await kubectl('delete rollout agent --timeout=20s')).stdout).toContain('"agent" deleted')
    const followed = await kubectl('rollout status ds/agent --timeout=20s')
    expect(followed.stdout.trimEnd().split('\n').at(-1)).toBe('daemon set "agent" successfully rolled out')
  })

  const untilPaused = (): Promise<void> => until('{.status.canaryStatus.currentStepState}', 'StepPaused')

  /** Waits until every node is updated and only the final settling time is left. */
  const untilSettling = (): Promise<void> => until('{.status.canaryStatus.finalisingStep}', 'ResumeWorkload')

  async function until(path: string, value: string): Promise<void> {
    const { code, stderr } = await kubectl(`wait rollout/agent --for=jsonpath='${path}'=${value} --timeout=30s`)
    expect([code, stderr]).toEqual([0, ''])
  }

  async function imagesOfPods(): Promise<readonly string[]> {
    return (await kubectl("get pods -l app=agent -o jsonpath='{.items[*].spec.containers[0].image}'")).stdout.split(' ')
  }

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
