import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { chart } from './chart.ts'

/** A chart in a folder of its own. */
export interface ChartCopy {
  readonly path: string
  remove(): void
}

interface Schema {
  properties?: Record<string, Schema>
}

/** Fields that are new in this version, by kind; a path below the schema of the object. */
const NEWER: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Rollout: [['status', 'stableRevision']],
  BatchRelease: [['spec', 'tranche']],
}

/** @returns this chart like an older version: its definitions lack the {@link NEWER} fields, which the API server then drops */
export function olderChart(): ChartCopy {
  const path = mkdtempSync(join(tmpdir(), 'tranche-older-'))
  cpSync(chart, path, { recursive: true })
  const about = join(path, 'Chart.yaml')
  writeFileSync(about, readFileSync(about, 'utf8').replace(/^version: .*/m, 'version: 0.0.9'))
  const folder = join(path, 'files/crds')
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    writeFileSync(file, stringify(reduced(parse(readFileSync(file, 'utf8')) as Definition)))
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
}

function reduced(definition: Definition): Definition {
  const { names, versions } = definition.spec
  for (const path of NEWER[names.kind] ?? []) {
    let schema = versions[0]?.schema.openAPIV3Schema
    for (const name of path.slice(0, -1)) schema = schema?.properties?.[name]
    const last = path.at(-1)!
    if (schema?.properties?.[last] === undefined) throw new Error(`${names.kind} has no ${path.join('.')}`)
    delete schema.properties[last]
  }
  return definition
}
