# The package, its program, a shell to work in, a service of NixOS and the checks, for Nix.
{
  description = "An OpenAI-compatible gateway in front of Vertex AI and the Gemini Developer API";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs = { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEach = build: lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});

      package = lib.importJSON ./package.json;

      # The lockfile carries integrity hashes but no addresses; Nix wants both.
      withAddress = path: entry:
        let
          name = entry.name or (lib.last (lib.splitString "node_modules/" path));
          file = lib.last (lib.splitString "/" name);
        in
        if entry ? integrity && !(entry ? resolved)
        then entry // { resolved = "https://registry.npmjs.org/${name}/-/${file}-${entry.version}.tgz"; }
        else entry;
      lock = lib.importJSON ./package-lock.json;
      packageLock = lock // { packages = lib.mapAttrs withAddress lock.packages; };

      gateway = pkgs: pkgs.buildNpmPackage {
        pname = package.name;
        inherit (package) version;
        src = lib.cleanSource ./.;
        nodejs = pkgs.nodejs_24;
        npmDeps = pkgs.importNpmLock { inherit package packageLock; };
        npmConfigHook = pkgs.importNpmLock.npmConfigHook;
        # The `node` package would fetch a Node of its own; here Node comes from Nix.
        npmFlags = [ "--ignore-scripts" ];
        meta = {
          inherit (package) description;
          license = lib.licenses.mit;
          mainProgram = "model-gateway";
        };
      };
    in
    {
      packages = forEach (pkgs: { default = gateway pkgs; });

      apps = forEach (pkgs: {
        default = {
          type = "app";
          program = lib.getExe self.packages.${pkgs.stdenv.hostPlatform.system}.default;
        };
      });

      devShells = forEach (pkgs: {
        default = pkgs.mkShell { packages = [ pkgs.nodejs_24 pkgs.postgresql pkgs.redis ]; };
      });

      nixosModules.default = { config, lib, pkgs, ... }:
        let
          cfg = config.services.model-gateway;
          yaml = pkgs.formats.yaml { };
          program = lib.getExe cfg.package;
          url = "http://${cfg.settings.server.host}:${toString cfg.settings.server.port}";
        in
        {
          options.services.model-gateway = {
            enable = lib.mkEnableOption "model-gateway, an OpenAI-compatible gateway for Google's model platforms";
            package = lib.mkOption {
              type = lib.types.package;
              default = self.packages.${pkgs.stdenv.hostPlatform.system}.default;
              defaultText = lib.literalExpression "model-gateway.packages.\${system}.default";
              description = "The package to run.";
            };
            settings = lib.mkOption {
              default = { };
              description = ''
                The configuration file. It becomes readable to everybody on the machine:
                write "''${NAME}" for a secret and set NAME in `environmentFile`.
              '';
              type = lib.types.submodule {
                freeformType = yaml.type;
                options.server = {
                  host = lib.mkOption {
                    type = lib.types.str;
                    default = "127.0.0.1";
                    description = "Address to listen on.";
                  };
                  port = lib.mkOption {
                    type = lib.types.port;
                    default = 8787;
                    description = "Port to listen on.";
                  };
                };
              };
            };
            environmentFile = lib.mkOption {
              type = lib.types.nullOr lib.types.path;
              default = null;
              example = "/run/secrets/model-gateway";
              description = "Lines of NAME=value with the secrets; read by systemd, not copied to the store.";
            };
          };

          config = lib.mkIf cfg.enable {
            systemd.services.model-gateway = {
              inherit (package) description;
              wantedBy = [ "multi-user.target" ];
              wants = [ "network-online.target" ];
              after = [ "network-online.target" ];
              environment = {
                GATEWAY_CONFIG = yaml.generate "gateway.yaml" cfg.settings;
                GATEWAY_DATA_DIR = "/var/lib/model-gateway";
                # With more arenas of malloc, each thread of V8 keeps memory that it has freed.
                MALLOC_ARENA_MAX = "1";
                # New objects take at most 64 MiB instead of 128.
                NODE_OPTIONS = "--max-semi-space-size=32";
              };
              serviceConfig = {
                ExecStart = "${program} serve";
                # Started means ready: what is ordered after the service may call it.
                ExecStartPost = pkgs.writeShellScript "model-gateway-ready" ''
                  until ${program} health --url ${url} 2> /dev/null; do sleep 0.2; done
                '';
                TimeoutStartSec = 60;
                # Longer than leaving the load balancer and the longest stream together.
                TimeoutStopSec = 630;
                Restart = "on-failure";
                EnvironmentFile = lib.mkIf (cfg.environmentFile != null) cfg.environmentFile;
                DynamicUser = true;
                StateDirectory = "model-gateway";
                StateDirectoryMode = "0700";
                UMask = "0077";
                CapabilityBoundingSet = "";
                LockPersonality = true;
                NoNewPrivileges = true;
                PrivateDevices = true;
                ProtectClock = true;
                ProtectControlGroups = true;
                ProtectHome = true;
                ProtectHostname = true;
                ProtectKernelLogs = true;
                ProtectKernelModules = true;
                ProtectKernelTunables = true;
                ProtectSystem = "strict";
                RestrictAddressFamilies = [ "AF_INET" "AF_INET6" "AF_UNIX" ];
                RestrictNamespaces = true;
                RestrictRealtime = true;
                SystemCallArchitectures = "native";
              };
            };
          };
        };

      checks = forEach (pkgs: {
        default = (gateway pkgs).overrideAttrs {
          doCheck = true;
          checkPhase = ''
            runHook preCheck
            npm run check
            npm test
            runHook postCheck
          '';
        };
      });
    };
}
