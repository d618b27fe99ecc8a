import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../clients/cluster.ts'
import { type Programs, startPrograms } from '../clients/programs.ts'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { type Ended, runProgram } from '../clients/run-program.ts'

const isMissing = !kubectlForTests()

const agents = 'examples/gitops/repository/agents/node-agent/clusters'

describe.skipIf(isMissing)('the layout of a repository', () => {
  let cluster: Cluster
  let programs: Programs

  beforeAll(async () => {
    cluster = await startCluster(2)
    programs = await startPrograms(cluster)
    await kubectl('create namespace demo')
  })

  afterAll(async () => {
    await programs.stop()
    await cluster.end()
  })

  it('deploys a DaemonSet, its Rollout and its policy to production', async () => {
    const { stdout } = await kubectl('apply --dry-run=server -o name -f -', await built('production'))
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      'daemonset.apps/node-agent',
      'releasepolicy.tranche.dev/node-agents',
      'rollout.rollouts.kruise.io/node-agent',
    ])
  })

  it('has no difference to the cluster in mid-release, and applying it again changes nothing', async () => {
    const v2 = await built('staging')
    await kubectl('apply -f -', v2.replace(':v2', ':v1'))
    await until('{.status.phase}', 'Healthy')
    await kubectl('apply -f -', v2)
    await until('{.status.currentStepState}', 'StepPaused')
    const before = await kubectl('-n demo get daemonset,rollout node-agent -o jsonpath={.items[*].metadata.generation}')
    expect((await kubectl('diff -f -', v2)).stdout).toBe('')
    const applied = await kubectl('apply -f -', v2)
    expect(
      applied.stdout
        .trim()
        .split('\n')
        .filter((line) => !line.endsWith(' unchanged')),
    ).toEqual([])
    expect(await kubectl('-n demo get daemonset,rollout node-agent -o jsonpath={.items[*].metadata.generation}')).toEqual(before)
  })

  it.each([
    ['Argo CD', '--server-side --force-conflicts --field-manager=argocd-controller'],
    ['Flux', '--server-side --force-conflicts --field-manager=kustomize-controller'],
  ])('changes nothing when it is applied on the server side, as by %s', async (_tool, flags) => {
    const v2 = await built('staging')
    const generations = (): Promise<Ended> =>
      kubectl('-n demo get daemonset,rollout node-agent -o jsonpath={.items[*].metadata.generation}')
    const before = await generations()
    for (let times = 0; times < 2; times++) await kubectl(`apply ${flags} -f -`, v2)
    expect((await kubectl(`diff ${flags} -f -`, v2)).stdout).toBe('')
    expect(await generations()).toEqual(before)
  })

  it('would differ only in the strategy if it had RollingUpdate', async () => {
    const stating = (await built('staging')).replace('type: OnDelete', 'type: RollingUpdate')
    const { code, stdout } = await run('diff -f -', stating)
    expect(code).toBe(1)
    const lines = stdout.split('\n').filter((line) => /^[-+] /.test(line) && !/generation:|resourceVersion:/.test(line))
    expect(lines.map((line) => line.replace(/\s+/g, ' '))).toEqual(['+ maxSurge: 0', '- type: OnDelete', '+ type: RollingUpdate'])
  })

  it('keeps other keys in the ConfigMap of Argo CD', async () => {
    await kubectl('create namespace argocd')
    await kubectl('-n argocd create configmap argocd-cm --from-literal=url=https://argocd.example')
    await kubectl('-n argocd patch configmap argocd-cm --patch-file examples/gitops/argo-cd/argocd-cm.yaml')
    const { stdout } = await kubectl('-n argocd get configmap argocd-cm -o jsonpath={.data}')
    expect(Object.keys(JSON.parse(stdout) as object).toSorted()).toEqual([
      'resource.customizations.actions.rollouts.kruise.io_Rollout',
      'resource.customizations.health.rollouts.kruise.io_BatchRelease',
      'resource.customizations.health.rollouts.kruise.io_Rollout',
      'url',
    ])
  })

  async function until(path: string, value: string): Promise<void> {
    await kubectl(`-n demo wait --for=jsonpath=${path}=${value} rollout/node-agent --timeout=60s`)
  }

  async function built(overlay: string): Promise<string> {
    return (await kubectl(`kustomize ${agents}/${overlay}`)).stdout
  }

  async function kubectl(command: string, input?: string): Promise<Ended> {
    const ended = await run(command, input)
    expect(ended, command).toMatchObject({ code: 0 })
    return ended
  }

  function run(command: string, input?: string): Promise<Ended> {
    return runProgram('kubectl', command.split(' '), {
      env: { KUBECONFIG: cluster.kubeconfig, HOME: cluster.folder },
      ...(input !== undefined && { input }),
    })
  }
})
