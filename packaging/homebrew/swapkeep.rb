class Swapkeep < Formula
  desc "Wallet's keys and swaps, outside the browser"
  homepage "https://swapkeep.invalid"
  version "{{.Version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{.URL}}/{{.File "darwin-arm64" "tar.gz"}}"
      sha256 "{{.Sum "darwin-arm64" "tar.gz"}}"
    end
    on_intel do
      url "{{.URL}}/{{.File "darwin-amd64" "tar.gz"}}"
      sha256 "{{.Sum "darwin-amd64" "tar.gz"}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.URL}}/{{.File "linux-arm64" "tar.gz"}}"
      sha256 "{{.Sum "linux-arm64" "tar.gz"}}"
    end
    on_intel do
      url "{{.URL}}/{{.File "linux-amd64" "tar.gz"}}"
      sha256 "{{.Sum "linux-amd64" "tar.gz"}}"
    end
  end

  def install
    libexec.install "bin/swapkeep", "bin/swapkeepd"
    bin.install_symlink libexec/"swapkeep"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/swapkeep"
    zsh_completion.install "share/zsh/site-functions/_swapkeep"
    fish_completion.install "share/fish/vendor_completions.d/swapkeep.fish"
    doc.install Dir["share/doc/swapkeep/*"]
  end

  service do
    run [opt_libexec/"swapkeepd"]
  end

  def caveats
    <<~EOS
      Let your browsers find Swapkeep, and look whether they do:
        swapkeep install --detected
        swapkeep doctor
      Before you remove this formula:
        swapkeep uninstall
    EOS
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/swapkeep version")
  end
end
