import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Command that builds the dashboard, in the checkout. */
export const BUILD_DASHBOARD = 'npx -y pnpm@12.21.0 --filter @tranche/dashboard build'

/**
 * @returns the folder of the built dashboard: `dashboard` beside `lib` in the bundle, `apps/dashboard/dist` in a checkout; undefined if the
 *   dashboard is not built
 */
export function findDashboard(): string | undefined {
  const isBundled = !import.meta.filename.endsWith('.ts')
  const folder = join(import.meta.dirname, isBundled ? '../dashboard' : '../../../dashboard/dist')
  return existsSync(join(folder, 'index.html')) ? folder : undefined
}
