import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'

/**
 * Words with which a user starts this program in another terminal. A start by pnpm puts no `tranche` on the user's PATH, so the words
 * go through pnpm unless the PATH has one.
 */
export function ownCommand(env: NodeJS.ProcessEnv): string {
  const { npm_lifecycle_event: script, PATH: path = '' } = env
  return script === undefined || path.split(delimiter).some(hasTranche) ? 'tranche' : 'npx -y pnpm@12.21.0 tranche'
}

/** Folders of packages are on the PATH only while pnpm runs a script. */
function hasTranche(folder: string): boolean {
  if (folder === '' || folder.split(sep).includes('node_modules')) return false
  const file = join(folder, 'tranche')
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
