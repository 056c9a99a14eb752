// For ESLint and dependency-cruiser.
module.exports = {
  /** The suffixes of `<noun>.<role>.ts`. A file of src without one is pure. */
  roles: (
    'module controller service repository query processor queue client timer guard decorator filter ' +
    'subscriber setup command migration entity dto'
  ).split(' '),
  /** Entry points, which have no role and are not pure. */
  entryPoints: ['src/main.ts'],
};
