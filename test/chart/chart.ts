import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type Ended, runProgram } from '../clients/run-program.ts'
import { findPrograms } from './programs.ts'

/** helm and kubectl; null if they are missing, in which case suites that need them are skipped. */
export const programs = findPrograms()

/** The chart, from the root of the repository. */
export const chart = 'charts/tranche'

/** Values as in a file of `--values`. */
export type Values = Readonly<Record<string, unknown>>

/** An object as helm renders it. */
export interface Rendered {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: Readonly<Record<string, never>>
  readonly rules?: readonly unknown[]
}

/** Runs helm without the user's plugins, repositories and kubeconfig; the kubeconfig is `kubeconfig`. */
export async function helm(
  args: readonly string[],
  { values = {}, kubeconfig = '/dev/null', program = programs!.helm }: HelmOptions = {},
): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-chart-'))
  try {
    const file = join(folder, 'values.yaml')
    writeFileSync(file, JSON.stringify(values)) // JSON is YAML
    const env = Object.fromEntries(['CACHE', 'CONFIG', 'DATA'].map((name) => [`HELM_${name}_HOME`, join(folder, name)]))
    const takesValues = ['template', 'lint', 'install', 'upgrade'].includes(args[0] ?? '')
    return await runProgram(program, [...args, ...(takesValues ? ['--values', file] : [])], {
      env: { ...env, KUBECONFIG: kubeconfig },
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Options of {@link helm}. */
export interface HelmOptions {
  readonly values?: Values
  readonly kubeconfig?: string
  /** @default helm of {@link programs} */
  readonly program?: string
}

const texts = new Map<string, Promise<string>>()

/**
 * Renders the chart once for each test file and choice of values.
 *
 * @throws {Error} with the output of helm if it does not render
 */
export function renderText(values: Values, args: readonly string[] = []): Promise<string> {
  const key = JSON.stringify([values, args])
  const text = texts.get(key) ?? renderUncached(values, args)
  texts.set(key, text)
  return text
}

async function renderUncached(values: Values, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await helm(['template', 'tranche', chart, '--namespace', 'tranche-system', ...args], { values })
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** @throws {Error} with the output of helm if it does not render, or for YAML that a parser may read in two ways, such as a repeated key */
export async function render(values: Values, args: readonly string[] = []): Promise<readonly Rendered[]> {
  return parseAllDocuments(await renderText(values, args)).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    return (document.toJS() as Rendered | null) ?? []
  })
}
