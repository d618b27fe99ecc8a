import { readdirSync, readFileSync } from 'node:fs'
import type { Rollout } from '@tranche/api-schema'
import { runLua } from './lua.ts'

/** Health of a resource in Argo CD. */
export interface ArgoVerdict {
  readonly status: 'Healthy' | 'Progressing' | 'Suspended' | 'Degraded'
  readonly message: string
}

/** Our scripts, with the paths of Argo CD's own source tree. */
export const scriptsRoot = 'examples/gitops/argo-cd/resource_customizations'
const rolloutScripts = `${scriptsRoot}/rollouts.kruise.io/Rollout`

/** Every action that has a script, by name. */
export const actionNames: readonly string[] = readdirSync(`${rolloutScripts}/actions`).filter((name) => !name.endsWith('.lua'))

/** Health of a Rollout by our script. */
export async function argoVerdict(rollout: Rollout): Promise<ArgoVerdict> {
  return (await runLua(script('health.lua'), rollout)) as ArgoVerdict
}

/** Health of a BatchRelease by our script. */
export async function argoVerdictOfRelease(release: object): Promise<ArgoVerdict> {
  return (await runLua(readFileSync(`${scriptsRoot}/rollouts.kruise.io/BatchRelease/health.lua`, 'utf8'), release)) as ArgoVerdict
}

/** One entry of the menu. */
interface OfferedAction {
  readonly disabled: boolean
  readonly displayName: string
  readonly iconClass: string
}

/** The menu of a Rollout, by name; an empty table of Lua has no members. */
export async function discoveredActions(rollout: Rollout): Promise<Readonly<Record<string, OfferedAction>>> {
  return (await runLua(script('actions/discovery.lua'), rollout)) as Record<string, OfferedAction>
}

/** @returns names of the actions that are possible now */
export async function possibleActions(rollout: Rollout): Promise<readonly string[]> {
  return Object.entries(await discoveredActions(rollout)).flatMap(([name, { disabled }]) => (disabled ? [] : [name]))
}

/**
 * Runs an action like Argo CD: the script changes a copy of the object, and the difference is sent as a merge patch.
 *
 * @returns that patch
 */
export async function actionPatch(name: string, rollout: Rollout, nowSeconds?: number): Promise<Readonly<Record<string, unknown>>> {
  const changed = await runLua(script(`actions/${name}/action.lua`), rollout, nowSeconds === undefined ? {} : { nowSeconds })
  return difference(rollout, changed)
}

function script(path: string): string {
  return readFileSync(`${rolloutScripts}/${path}`, 'utf8')
}

/** A merge patch that turns `before` into `after`. In tables of Lua, empty lists and empty objects look the same. */
function difference(before: unknown, after: unknown): Readonly<Record<string, unknown>> {
  const patch: Record<string, unknown> = {}
  const [old, now] = [record(before), record(after)]
  for (const [key, value] of Object.entries(now)) {
    if (isEqual(old[key], value)) continue
    patch[key] = isRecord(value) && isRecord(old[key]) ? difference(old[key], value) : value
  }
  for (const key of Object.keys(old)) if (!(key in now)) patch[key] = null
  return patch
}

function isEqual(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b)
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '{}' : `[${value.map(canonical).join()}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join()}}`
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
