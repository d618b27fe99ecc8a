/** Argo CD configuration, generated from the scripts in examples/gitops/argo-cd. */
import { readdirSync, readFileSync } from 'node:fs'
import { stringify } from 'yaml'

const root = 'examples/gitops/argo-cd/resource_customizations'

/** YAML of a ConfigMap `argocd-cm` that holds only these scripts. */
export function argoConfigMap(): { readonly path: string; readonly text: string } {
  const head =
    '# Made by `pnpm generate` from resource_customizations; changes belong there.\n' +
    '# Merge it into the ConfigMap that Argo CD has:\n' +
    '#   kubectl -n argocd patch configmap argocd-cm --patch-file examples/gitops/argo-cd/argocd-cm.yaml\n'
  const metadata = { name: 'argocd-cm', labels: { 'app.kubernetes.io/name': 'argocd-cm', 'app.kubernetes.io/part-of': 'argocd' } }
  const text = head + yaml({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: customizations() })
  return { path: 'examples/gitops/argo-cd/argocd-cm.yaml', text }
}

function customizations(): Readonly<Record<string, string>> {
  return Object.fromEntries(kinds().flatMap(([group, kind]) => customizationsOf(group, kind)))
}

function kinds(): readonly (readonly [group: string, kind: string])[] {
  return readdirSync(root).flatMap((group) => readdirSync(`${root}/${group}`).map((kind) => [group, kind] as const))
}

function customizationsOf(group: string, kind: string): readonly (readonly [key: string, value: string])[] {
  const folder = `${root}/${group}/${kind}`
  const health = [`resource.customizations.health.${group}_${kind}`, read(`${folder}/health.lua`)] as const
  const names = folderNames(`${folder}/actions`)
  if (names.length === 0) return [health]
  const actions = {
    'discovery.lua': read(`${folder}/actions/discovery.lua`),
    definitions: names.map((name) => ({ name, 'action.lua': read(`${folder}/actions/${name}/action.lua`) })),
  }
  return [health, [`resource.customizations.actions.${group}_${kind}`, yaml(actions)]]
}

function folderNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  } catch {
    return []
  }
}

function read(path: string): string {
  return readFileSync(path, 'utf8')
}

function yaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}
