export { createLauncher, launch } from './command-line/launch.ts'
