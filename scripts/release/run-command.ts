import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** How {@link runCommand} runs a program. */
export interface CommandOptions {
  readonly cwd?: string
  /** Added to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>
}

/** Lines of errors that a message quotes. */
const LINES = 4

/** Runs a program. */
export type CommandRunner = (program: string, args: readonly string[], options?: CommandOptions) => Promise<string>

/**
 * @returns what the program printed, without white space around it
 * @throws {Error} with the last lines of its errors, if it exits with another code than 0
 */
export const runCommand: CommandRunner = async (program, args, { cwd, environment = {} } = {}) => {
  try {
    const env = { ...process.env, ...environment }
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
