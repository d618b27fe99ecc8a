import type { Verdicts } from './verdicts.ts'

const head = `# What GitOps tools say at every moment

Made by \`test/gitops\`, which plays releases on the simulator, gives what a watcher sees to each tool, and compares this page; \`pnpm test:gitops\`
does so with Argo CD's own Lua and scripts, and the libraries of kstatus and Flux themselves.

- *Argo CD*: with [our scripts](argo-cd.md#health-and-actions), which are told \`status.message\` too, and the actions that they then offer.
- *its own script*: what Argo CD says without them, by the check that it brings for OpenKruise.
- *kstatus*: what Flux, and others who use kstatus, say of themselves.
- *Flux*: with [the expressions](flux.md#the-health-of-a-release) of \`healthCheckExprs\` for Rollouts; what is *taken back* is Failed by that for DaemonSets.

Where the generation is not observed yet, all say that it goes on; these lines stand once for each phase.

| phase, reason of Progressing, step | Argo CD | its own script | kstatus | Flux | actions |
|---|---|---|---|---|---|
`

/** The page of docs that says what every tool says in every situation. */
export function verdictsPage(verdicts: readonly Verdicts[]): string {
  const rows = verdicts.map(({ standing, argo, argoOwn, kstatus, flux, actions }) =>
    [standing, argo.status, argoOwn, kstatus, flux, actions.toSorted().join(', ')].join(' | '),
  )
  return `${head}${rows.map((row) => `| ${row} |\n`).join('')}`
}
