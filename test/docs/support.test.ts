import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

const page = readFileSync('docs/operations/support.md', 'utf8')
const { nodeVersion } = parse(readFileSync('pnpm-workspace.yaml', 'utf8')) as { nodeVersion: string }
const { kubeVersion, appVersion } = parse(readFileSync('charts/tranche/Chart.yaml', 'utf8')) as Record<string, string>
const goModules = readFileSync('test/gitops/go/go.mod', 'utf8')
const kruise = /OpenKruise Rollouts\*\* \| ([^;]+);/.exec(readFileSync('docs/explanation/comparison.md', 'utf8'))?.[1]

it.each([
  ['version of Tranche', appVersion],
  ['oldest Kubernetes', /\d+\.\d+/.exec(kubeVersion ?? '')?.[0]],
  ['Node.js', nodeVersion],
  ['Argo CD', moduleVersion('argoproj/argo-cd/v3')],
  ['API of Flux', moduleVersion('fluxcd/kustomize-controller/api')],
  ['runtime of Flux', moduleVersion('fluxcd/pkg/runtime')],
  ['libraries of Flux', moduleVersion('fluxcd/cli-utils')],
  ['kstatus', moduleVersion('sigs.k8s.io/cli-utils')],
  ['OpenKruise', kruise],
])('docs/operations/support.md names the tested %s: %s', (_what, version) => {
  expect(version).toBeTruthy()
  expect(page).toContain(version)
})

function moduleVersion(name: string): string | undefined {
  return new RegExp(`${RegExp.escape(name)} v(\\S+)`).exec(goModules)?.[1]
}
