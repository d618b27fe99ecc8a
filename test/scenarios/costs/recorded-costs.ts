import { readFileSync, writeFileSync } from 'node:fs'
import type { MeasuredRelease, ReleaseCosts } from './release-costs.ts'

/** Releases whose costs are recorded, by name. */
export const measuredReleases: Readonly<Record<string, MeasuredRelease>> = {
  '30 nodes, limit 5': { nodes: 30, limit: 5 },
  '300 nodes, limit 30': { nodes: 300, limit: 30 },
}

const file = new URL('recorded-costs.json', import.meta.url)

/** @returns recorded costs by the name of the release */
export function readCosts(): Readonly<Record<string, ReleaseCosts>> {
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, ReleaseCosts>
}

/** Replaces the recorded costs. */
export function recordCosts(costs: Readonly<Record<string, ReleaseCosts>>): void {
  writeFileSync(file, `${JSON.stringify(costs, null, 2)}\n`)
}

/**
 * Compares costs exactly: they do not depend on the machine. A fall is reported as well, so that it is recorded and cannot be lost again.
 *
 * @returns one sentence per difference; empty if there is none
 */
export function costDifferences(recorded: ReleaseCosts, measured: ReleaseCosts): readonly string[] {
  return [...new Set([...Object.keys(recorded), ...Object.keys(measured)])].flatMap((name) => {
    const [before, now] = [recorded[name] ?? 0, measured[name] ?? 0]
    if (before === now) return []
    return [`${name}: ${now > before ? 'rose' : 'fell'} from ${before} to ${now}`]
  })
}
