import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type SecretVariable, withoutSecrets } from './credentials.ts'

/** How {@link runCommand} runs a program. */
export interface CommandOptions {
  readonly cwd?: string
  /** Added to the environment of this process, of which the program does not get the secrets. */
  readonly environment?: Readonly<Record<string, string>>
  /** Secrets that the program gets. @default none */
  readonly secrets?: readonly SecretVariable[]
}

/** Lines of errors that a message quotes. */
const LINES = 4

/** Runs a program. */
export type CommandRunner = (program: string, args: readonly string[], options?: CommandOptions) => Promise<string>

/**
 * @returns what the program printed, without white space around it
 * @throws {Error} with the last lines of its errors, if it exits with another code than 0
 */
export const runCommand: CommandRunner = async (program, args, { cwd, environment = {}, secrets } = {}) => {
  try {
    const env = { ...withoutSecrets(process.env, secrets), ...environment }
    const { stdout } = await promisify(execFile)(program, [...args], { env, maxBuffer: 2 ** 26, ...(cwd !== undefined && { cwd }) })
    return stdout.trim()
  } catch (error) {
    const { code, stderr = '' } = error as { readonly code?: number | string; readonly stderr?: string }
    const lines = stderr
      .trim()
      .split('\n')
      .filter((line) => !line.includes('A complete log of this run'))
    const reason = lines.slice(-LINES).join(' | ')
    throw new Error(`${program} ${args.slice(0, 3).join(' ')} ended with ${code}: ${reason}`, { cause: error })
  }
}
